/* SPDX-License-Identifier: MIT */
/* Fast path for the packets that nearly all of a trace consists of: TNT, TIP and timing packets. */
#ifndef PTC_DECODE_ENGINE_TNT_LOOP_H
#define PTC_DECODE_ENGINE_TNT_LOOP_H

#include "decode/engine/engine.h"

/*
 * Run from pos to a packet that is not one of these. GO_ON: pos is at that packet, or at the end.
 * All bits are used, except bits behind an address that has not come yet. DECLINED: see flow.why.
 */
enum ptc_fast_status ptc_fast_hurry(struct ptc_fast *f);

#endif
