/* SPDX-License-Identifier: MIT */
/* The packets that nearly all of a trace is made of, quickly: TNT, TIP, and what tells the time. */
#ifndef PTC_DECODE_FAST_HOT_H
#define PTC_DECODE_FAST_HOT_H

#include "decode/fast/engine.h"

/*
 * Run from pos on to a packet that is not one of these. GO_ON: it is at pos, or pos is the end, and
 * all bits are used, but for those behind an address that is not there yet. DECLINED: as it says.
 */
enum ptc_fast_status ptc_fast_hurry(struct ptc_fast *f);

#endif
