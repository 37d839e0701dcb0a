/* SPDX-License-Identifier: MIT */
/* What the second engine does with one packet, of those that its loop (hot.h) leaves to it. */
#ifndef PTC_DECODE_FAST_PACKETS_H
#define PTC_DECODE_FAST_PACKETS_H

#include "decode/fast/engine.h"

/* Takes the packet at f->pos, and moves on behind it. */
enum ptc_fast_status ptc_fast_packet(struct ptc_fast *f);

/* Leaves the rest to libipt, because of @why (a literal). Returns PTC_FAST_DECLINED. */
enum ptc_fast_status ptc_fast_decline(struct ptc_fast *f, const char *why);

#endif
