/* SPDX-License-Identifier: MIT */
/* Converts libipt's events to ours. */
#ifndef PTC_DECODE_ITEMS_EVENT_H
#define PTC_DECODE_ITEMS_EVENT_H

#include <stdint.h>

#include "ptcap/decode.h"

struct pt_event;

struct ptc_pt_event {
	enum ptc_event_kind kind; /* NONE: an event that is not reported */
	uint64_t ip, value, time;
};

/* Caller sets the time. */
struct ptc_pt_event ptc_pt_event_of(const struct pt_event *ev);

#endif
