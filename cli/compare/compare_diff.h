/* SPDX-License-Identifier: MIT */
/*
 * A compared sample, side by side: a row for each entry, and for each branch that the stack lacks.
 * The rows are copies. The functions need a judged sample.
 */
#ifndef PTC_CLI_COMPARE_COMPARE_DIFF_H
#define PTC_CLI_COMPARE_COMPARE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/compare.h"

/* Function and source line of an address, as far as they are known. */
struct ptc_side_place {
	char *function; /* owned; NULL: unknown */
	uint64_t off;	/* in the function */
	char *file;	/* owned; source file; NULL: unknown */
	int line;
};

/* Finds names. *ret starts zeroed and may stay zeroed. find returns false if out of memory. */
struct ptc_side_names {
	bool (*find)(void *ctx, const struct ptc_item *where, uint64_t ip,
		     struct ptc_side_place *ret);
	void *ctx;
};

void ptc_side_place_release(struct ptc_side_place *p);

struct ptc_side_end {
	uint64_t ip;
	struct ptc_side_place place;
};

struct ptc_side_row {
	bool missing;	 /* the stack lacks this branch */
	size_t depth;	 /* of the entry; of a missing branch: of the newer entry beside it */
	uint8_t verdict; /* of the entry */
	uint8_t kind;	 /* of the branch */
	struct ptc_side_end lbr[2], trace[2]; /* from, to; ip 0: none */
};

struct ptc_side {
	uint64_t off, time;
	int32_t tid, cpu;
	uint64_t wrong; /* wrong and missing entries */
	size_t candidates;
	struct ptc_side_row *rows; /* owned; newest first */
	size_t n;
};

/*
 * Walk over @s from the newest entry on. Calls @on_row for each entry, and for each branch that is
 * missing behind it. @row is lent for the call, and its ends have no names. Returns false as soon
 * as @on_row does.
 */
bool ptc_side_walk(const struct ptc_compare_sample *s,
		   bool (*on_row)(void *ctx, const struct ptc_side_row *row), void *ctx);

/* Same, only for the branches that are missing behind entry @i. */
bool ptc_side_missing(const struct ptc_compare_sample *s, size_t i,
		      bool (*on_row)(void *ctx, const struct ptc_side_row *row), void *ctx);

/* On failure (out of memory) returns false and keeps nothing. @names NULL: no names. */
bool ptc_side_init(struct ptc_side *side, const struct ptc_compare_sample *s, uint64_t wrong,
		   const struct ptc_side_names *names);
void ptc_side_release(struct ptc_side *side);

#endif
