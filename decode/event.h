/* SPDX-License-Identifier: MIT */
/* libipt's events as ours. */
#ifndef PTC_DECODE_EVENT_H
#define PTC_DECODE_EVENT_H

#include <stdint.h>

#include "ptcap/decode.h"

struct pt_event;

struct ptc_pt_event {
	enum ptc_event_kind kind; /* NONE: one that is not told of */
	uint64_t ip, value, time;
};

/* The time is left to the caller. */
struct ptc_pt_event ptc_pt_event_of(const struct pt_event *ev);

#endif
