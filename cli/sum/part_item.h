/* SPDX-License-Identifier: MIT */
/* The branches, gaps and rows of numbers in the lines of a part (cli/calls/part_out.h). */
#ifndef PTC_CLI_SUM_PART_ITEM_H
#define PTC_CLI_SUM_PART_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/sum/sum_line.h"
#include "ptcap/decode.h"

/* An address with its function. */
struct ptc_joined_place {
	uint64_t ip, start; /* start of the function; 0: unknown */
	int64_t function;   /* its number in the part; -1: not known */
};

struct ptc_joined_item {
	struct ptc_item item;
	struct ptc_joined_place from, to;
	uint64_t life;
	const char *name; /* of the thread; borrowed from the line; NULL: not known */
};

/* Gets a branch or a gap. */
int ptc_part_item_get(const struct ptc_sum_line *l, const json_t *o, struct ptc_joined_item *ret,
		      struct ptc_err *err);

/*
 * Gets @n numbers of a row: whole numbers from -1 on, or texts such as "0x10". -1 becomes
 * UINT64_MAX.
 */
int ptc_part_row_get(const struct ptc_sum_line *l, const json_t *row, size_t n, uint64_t *ret,
		     struct ptc_err *err);

#endif
