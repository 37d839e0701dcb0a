/* SPDX-License-Identifier: MIT */
/* Makes a pass decode one shard: see shard.h. */
#ifndef PTC_DECODE_SESSION_SHARD_CHOICE_H
#define PTC_DECODE_SESSION_SHARD_CHOICE_H

#include <stdint.h>

struct ptc_cutout;
struct ptc_err;
struct ptc_pass;

/* Shard @i of @n, 1 <= @i <= @n. Call it before the pass runs. */
int ptc_shard_choose(struct ptc_pass *p, uint32_t i, uint32_t n, struct ptc_err *err);

/* Gets what a cutout of shard @i of @n needs: see ptcap/cutout.h. The pass must not run. */
int ptc_shard_get_cutout(struct ptc_pass *p, uint32_t i, uint32_t n, struct ptc_cutout *ret,
			 struct ptc_err *err);

#endif
