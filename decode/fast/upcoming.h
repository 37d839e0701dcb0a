/* SPDX-License-Identifier: MIT */
/* What is behind a PSB+, as far as libipt looks before it tells of what is in front of the PSB. */
#ifndef PTC_DECODE_FAST_UPCOMING_H
#define PTC_DECODE_FAST_UPCOMING_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/fast/engine.h"

enum ptc_fast_upcoming {
	PTC_FAST_UPCOMING_GOOD,
	PTC_FAST_UPCOMING_BAD,
	PTC_FAST_UPCOMING_CUT, /* the bytes end, the trace does not: more of them would decide */
};

/* Why a piece is declined for the last one of them. Its address is compared. */
extern const char PTC_FAST_TOO_SHORT[];

/*
 * From pos on, behind a PSB+: are there only whole events, if any, up to the next packet of the
 * flow, or the end? Then libipt can tell all that is in front of the PSB. Else it fails there, and
 * its gap begins in front of the PSB. BAD also where an event is rare enough to leave it to libipt.
 */
enum ptc_fast_upcoming ptc_fast_upcoming(const struct ptc_fast *f);

#endif
