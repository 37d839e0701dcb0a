/* SPDX-License-Identifier: MIT */
/* Checks the packets behind a PSB+ that libipt reads before it reports branches in front of it. */
#ifndef PTC_DECODE_ENGINE_PSB_LOOKAHEAD_H
#define PTC_DECODE_ENGINE_PSB_LOOKAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/engine/engine.h"

enum ptc_fast_upcoming {
	PTC_FAST_UPCOMING_GOOD,
	PTC_FAST_UPCOMING_BAD,
	PTC_FAST_UPCOMING_CUT, /* the bytes end, but the trace goes on: more bytes would decide */
};

/* The reason for declining a segment for PTC_FAST_UPCOMING_CUT. Compared by its address. */
extern const char PTC_FAST_TOO_SHORT[];

/*
 * pos is behind a PSB+. Are there only whole events, if any, up to the next packet of the flow, or
 * up to the end? Then libipt can report everything in front of the PSB. Else it fails there, and
 * its gap begins in front of the PSB. Also BAD where an event is rare enough to leave it to libipt.
 */
enum ptc_fast_upcoming ptc_fast_upcoming(const struct ptc_fast *f);

#endif
