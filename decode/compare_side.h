/* SPDX-License-Identifier: MIT */
/* A compared sample, side by side: a row for each entry, and for each transfer that the stack
 * lacks. Copies. */
#ifndef PTC_DECODE_COMPARE_SIDE_H
#define PTC_DECODE_COMPARE_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/compare.h"

/* An address in words, as far as they are known. */
struct ptc_side_place {
	char *function; /* owned; NULL */
	uint64_t off;	/* in it */
	char *file;	/* owned; of the source; NULL */
	int line;
};

/* How to find them: *ret starts zeroed and may stay so. False: out of memory. */
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
	bool missing; /* the stack lacks it */
	size_t depth; /* of the entry; of one that is missing: of the newer one beside it */
	struct ptc_branch entry;
	uint8_t verdict, cause;		      /* of the entry */
	uint8_t kind;			      /* of the transfer */
	struct ptc_side_end lbr[2], trace[2]; /* from, to; ip 0: nothing there */
};

struct ptc_side {
	uint64_t off, time;
	int32_t tid, cpu;
	uint64_t wrong; /* and missing */
	size_t candidates;
	uint32_t shift;
	struct ptc_side_row *rows; /* owned; the newest first */
	size_t n;
};

/*
 * Walk over @s, the newest first: each entry, and each transfer that is missing behind it. @row's
 * ends have no names, and it is lent for the call. False, at once, if @on_row said so.
 */
bool ptc_side_walk(const struct ptc_compare_sample *s,
		   bool (*on_row)(void *ctx, const struct ptc_side_row *row), void *ctx);

/* The same of each transfer that is missing behind entry @i alone. */
bool ptc_side_missing(const struct ptc_compare_sample *s, size_t i,
		      bool (*on_row)(void *ctx, const struct ptc_side_row *row), void *ctx);

/* False: out of memory, and nothing is left of it. @names NULL: none. */
bool ptc_side_init(struct ptc_side *side, const struct ptc_compare_sample *s, uint64_t wrong,
		   const struct ptc_side_names *names);
void ptc_side_release(struct ptc_side *side);

#endif
