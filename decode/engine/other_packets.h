/* SPDX-License-Identifier: MIT */
/* Handles one packet of the second engine that its fast path (tnt_loop.h) does not handle. */
#ifndef PTC_DECODE_ENGINE_OTHER_PACKETS_H
#define PTC_DECODE_ENGINE_OTHER_PACKETS_H

#include "decode/engine/engine.h"

/* Takes the packet at f->pos, and moves f->pos behind it. */
enum ptc_fast_status ptc_fast_packet(struct ptc_fast *f);

/* Leaves the rest to libipt. @why: the reason, a literal. Returns PTC_FAST_DECLINED. */
enum ptc_fast_status ptc_fast_decline(struct ptc_fast *f, const char *why);

#endif
