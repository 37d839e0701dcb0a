/* SPDX-License-Identifier: MIT */
/*
 * Files, offsets and functions of the two ends of a branch. Each is looked up once for an address
 * and its code (ptc_decode_code_part), and copied later. The memory is fixed.
 */
#ifndef PTC_CLI_ARROW_ARROW_PLACES_H
#define PTC_CLI_ARROW_ARROW_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arrow/arrow_names.h"
#include "cli/common/code_parts.h"
#include "ptcap/decode.h"

enum { PTC_ARROW_PAIR_BITS = 16 };

/* An end of a branch. PTC_ARROW_NULL: not known, or the branch has no such end. */
struct ptc_arrow_place {
	uint64_t off; /* offset in the file; without a file the address; PTC_ARROW_NULL64: no end */
	int32_t file, build_id, function;
};

/* The ends of a branch. Its key is from, to and code. */
struct ptc_arrow_pair {
	uint64_t from, to;
	uint64_t
		code; /* number of the code, and which ends the branch has; 0: the entry is empty */
	struct ptc_arrow_place source, target;
};

/* Initialize with zeros, d and names. */
struct ptc_arrow_places {
	struct ptc_decode *d;		/* borrowed */
	struct ptc_arrow_names *names;	/* borrowed */
	struct ptc_arrow_pair *pairs;	/* owned; one entry for each hash; NULL: none yet */
	struct ptc_arrow_address *seen; /* owned; the same for addresses */
	struct ptc_code_parts code;
	struct ptc_code_part part; /* the last with both ends of a pair, in process pid */
	int32_t pid;
};

void ptc_arrow_places_release(struct ptc_arrow_places *p);

/*
 * To be called at the start of each on_items: the code may have changed. Returns false if out of
 * memory.
 */
bool ptc_arrow_places_begin(struct ptc_arrow_places *p);

/* Fetches the entry of a branch that ptc_arrow_places_pair will be asked for soon. */
static inline void ptc_arrow_places_fetch(const struct ptc_arrow_places *p,
					  const struct ptc_item *it)
{
	const uint64_t hash = it->from * 0x9e3779b97f4a7c15 + it->to * 0xc2b2ae3d27d4eb4f;

	__builtin_prefetch(&p->pairs[hash >> (64 - PTC_ARROW_PAIR_BITS)]);
}

/* Returns the ends of the branch @it, valid until the next call. NULL: out of memory. */
const struct ptc_arrow_pair *ptc_arrow_places_pair(struct ptc_arrow_places *p,
						   const struct ptc_item *it);

/*
 * Gets the place of the address @ip in the process of @it. Returns false if out of memory.
 */
bool ptc_arrow_place(struct ptc_arrow_places *p, const struct ptc_item *it, uint64_t ip,
		     struct ptc_arrow_place *ret);

#endif
