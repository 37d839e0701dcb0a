/* SPDX-License-Identifier: MIT */
/*
 * Levels of detail of a thread on one axis, for `ptcap view --serve`.
 *
 * Level k divides the axis into slots of 2^(6 + 2k). Calls that last at least one slot stay single.
 * Shorter calls of one depth that end in one slot become one cell. A level is made from the cells
 * of the level below, so all levels together cost little more than the first one. A slot has few
 * cells of each depth, however many calls there are.
 */
#ifndef PTC_CLI_SERVE_LEVEL_STORE_H
#define PTC_CLI_SERVE_LEVEL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/packed_chunk.h"
#include "cli/serve/served_call.h"

enum { PTC_LEVELS = 20, PTC_LEVEL_SHIFT = 6, PTC_LEVEL_STEP = 2 };

/* Returns log2 of a slot of level @k. */
static inline unsigned int ptc_level_shift(unsigned int k)
{
	return PTC_LEVEL_SHIFT + PTC_LEVEL_STEP * k;
}

/* Cells in the order of their slots. Cells of one depth are in their order. */
struct ptc_level_chunk {
	struct ptc_packed_chunk packed;
	uint32_t cells;
	uint64_t begin; /* the least begin of a cell */
	uint64_t first,
		last; /* the least and the greatest end; no earlier chunk ends behind first */
};

/* Short calls of the present slot: at most one cell for each depth. */
struct ptc_short_cells {
	struct ptc_served_cell *v; /* owned */
	size_t n, cap;
	uint32_t *of_depth; /* owned; index in v + 1; 0: none */
	size_t depths, depths_cap;
};

struct ptc_level {
	uint64_t slot;
	struct ptc_short_cells pending;
	struct ptc_served_cell_codec codec;
	struct ptc_buf raw;
	struct ptc_level_chunk now;
	struct ptc_level_chunk *chunks; /* owned */
	size_t n, cap;
};

/* Initialize with zeros. */
struct ptc_level_store {
	struct ptc_level levels[PTC_LEVELS];
};

void ptc_level_store_release(struct ptc_level_store *s);

/* Add a call that has ended. Ends never go back. @chunk: bytes at which a chunk ends. */
int ptc_level_store_add(struct ptc_level_store *s, struct ptc_temp_store *file,
			const struct ptc_served_cell *cell, size_t chunk, struct ptc_err *err);

/* End all slots and chunks. */
int ptc_level_store_finish(struct ptc_level_store *s, struct ptc_temp_store *file,
			   struct ptc_err *err);

/*
 * Returns the chunks of a level with cells that end in [@from, @to], as the first one and the one
 * behind the last. *@ret_cells: number of their cells.
 */
size_t ptc_level_range(const struct ptc_level *l, uint64_t from, uint64_t to, size_t *ret_end,
		       uint64_t *ret_cells);

/* Add short calls to the cell of their depth. Returns false if out of memory. */
bool ptc_short_cells_add(struct ptc_short_cells *p, const struct ptc_served_cell *cell);

#endif
