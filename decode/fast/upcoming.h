/* SPDX-License-Identifier: MIT */
/* What is behind a PSB+, as far as libipt looks before it tells of what is in front of the PSB. */
#ifndef PTC_DECODE_FAST_UPCOMING_H
#define PTC_DECODE_FAST_UPCOMING_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/fast/engine.h"

/* Of a PTC_PKT_OTHER, of power states and of hardware: does a FUP follow? */
static inline bool ptc_fast_other_has_fup(const uint8_t *p)
{
	return p[1] == 0xc2 || p[1] == 0xe2; /* MWAIT, EXSTOP */
}

/* Of the same: does libipt know it? Not triggers, blocks of samples, CFE, EVD. */
static inline bool ptc_fast_other_is_known(const uint8_t *p)
{
	return p[0] == 0x02 && (ptc_fast_other_has_fup(p) || p[1] == 0xc3 || p[1] == 0x62 ||
				p[1] == 0x22 || p[1] == 0xa2); /* MNT, EXSTOP, PWRE, PWRX */
}

/*
 * From pos on, behind a PSB+: are there only whole events, if any, up to the next packet of the
 * flow, or the end? Then libipt can tell all that is in front of the PSB. Else it fails there, and
 * its gap begins in front of the PSB. False also where an event is rare enough to leave it to
 * libipt.
 */
bool ptc_fast_upcoming_is_good(const struct ptc_fast *f);

#endif
