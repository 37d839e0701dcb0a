/* SPDX-License-Identifier: MIT */
/* A branch in 16 bytes, as the engine lists branches. */
#ifndef PTC_DECODE_ITEMS_BRANCH_REC_H
#define PTC_DECODE_ITEMS_BRANCH_REC_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/kind.h"

/* A branch: its source with its kind below it. Addresses have 56 bits and are sign-extended. */
struct ptc_fast_rec {
	uint64_t from_kind;
	uint64_t to;
};

static inline struct ptc_fast_rec ptc_fast_rec(uint64_t from, uint64_t to, enum ptc_kind kind)
{
	return (struct ptc_fast_rec){ from << 8 | (uint64_t)kind, to };
}

static inline uint64_t ptc_fast_rec_from(struct ptc_fast_rec r)
{
	return (uint64_t)((int64_t)r.from_kind >> 8);
}

static inline enum ptc_kind ptc_fast_rec_kind(struct ptc_fast_rec r)
{
	return (enum ptc_kind)(r.from_kind & 0xff);
}

/* Can @ip be the source of a record? */
static inline bool ptc_fast_is_address(uint64_t ip)
{
	return (uint64_t)((int64_t)(ip << 8) >> 8) == ip;
}

#endif
