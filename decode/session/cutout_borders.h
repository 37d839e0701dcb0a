/* SPDX-License-Identifier: MIT */
/*
 * The borders of a shard as offsets of the AUX stream, which a cutout keeps: see ptcap/cutout.h.
 * They are stored and not computed again, because a cutout has too little trace to compute them.
 */
#ifndef PTC_DECODE_SESSION_CUTOUT_BORDERS_H
#define PTC_DECODE_SESSION_CUTOUT_BORDERS_H

#include <stdint.h>

#include "decode/stream/seek.h"
#include "ptcap/cutout.h"

struct ptc_err;
struct ptc_pass;
struct ptc_queue_decoder;

/*
 * Gets the borders of the shard that ptc_shard_choose() chose, and the trace that decoding it
 * reads. @start[k]: where the decoding of queue k begins at the earliest. The caller releases
 * *@ret, also on failure. PTC_E_UNSUPPORTED: the trace is no stream.
 */
int ptc_cutout_borders_get(const struct ptc_pass *p, const struct ptc_spot *start,
			   struct ptc_cutout *ret, struct ptc_err *err);

/* Sets l->part to the borders in @c. PTC_E_FORMAT: the trace does not have them. */
int ptc_cutout_borders_set(struct ptc_queue_decoder *l, const struct ptc_cutout *c,
			   struct ptc_err *err);

#endif
