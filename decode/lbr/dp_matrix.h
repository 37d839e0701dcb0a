/* SPDX-License-Identifier: MIT */
/*
 * The cost matrix of the alignment. At cell (i, j), i entries (from the oldest on) and j steps are
 * read. An edge leads into a cell from an earlier one. It reads an entry as a step, an entry as
 * nothing, a step as nothing, or two entries as two steps in reverse order. A stack may begin
 * anywhere, and may end where time allows. This file computes the cheapest cost to each cell, and
 * from each cell to the end. align.c derives the verdicts.
 */
#ifndef PTC_DECODE_LBR_DP_MATRIX_H
#define PTC_DECODE_LBR_DP_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/lbr/align.h"

enum {
	PTC_DP_MATRIX_NEVER =
		0x3f3f,		  /* more than the cost of a stack whose entries are all absent */
	PTC_DP_MATRIX_BLOCK = 64, /* cells of a row */
	PTC_DP_MATRIX_EDGES = 5,  /* into a cell, at most */
	PTC_DP_MATRIX_MISFIT = 3, /* cost of an ip that is elsewhere */
};

struct ptc_dp_matrix_edge {
	uint16_t entries; /* entries that the edge reads */
	uint8_t steps, cost, verdict;
	bool foreign;
};

struct ptc_dp_matrix {
	const struct ptc_align_in *in;
	const struct ptc_step *steps; /* the newest steps, as many as fit into the matrix */
	size_t nsteps, stride;
	bool begins, kernel, ip_known, predicts;
	uint16_t *ahead, *behind; /* lent; cost to each cell, and from it to the end */
	uint8_t *alive;		  /* lent; one per block of a row: may one of its cells matter? */
	size_t nblocks;		  /* per row */
	uint32_t bound;		  /* costs above this are only known to be higher */
	uint32_t best;
	size_t end; /* the last one of the cheapest ends */
};

/* Returns entry @i, from 1 on; 1 is the oldest. */
static inline const struct ptc_branch *ptc_dp_matrix_entry(const struct ptc_dp_matrix *g, size_t i)
{
	return &g->in->entries[g->in->n - i];
}

static inline const struct ptc_step *ptc_dp_matrix_step(const struct ptc_dp_matrix *g, size_t j)
{
	return &g->steps[j - 1];
}

static inline size_t ptc_dp_matrix_cell(const struct ptc_dp_matrix *g, size_t i, size_t j)
{
	return i * g->stride + j;
}

/* Returns the cell that edge @e, which leads to cell @to, comes from. */
static inline size_t ptc_dp_matrix_origin(const struct ptc_dp_matrix *g, size_t to,
					  const struct ptc_dp_matrix_edge *e)
{
	return to - e->entries * g->stride - e->steps;
}

/* Returns the cost of ending behind step @j. */
static inline uint32_t ptc_dp_matrix_end_cost(const struct ptc_dp_matrix *g, size_t j)
{
	if (!j || !(ptc_dp_matrix_step(g, j)->flags & PTC_STEP_END))
		return PTC_DP_MATRIX_NEVER;
	return g->ip_known && !(ptc_dp_matrix_step(g, j)->flags & PTC_STEP_FITS) ?
		       PTC_DP_MATRIX_MISFIT :
		       0;
}

static inline uint8_t *ptc_dp_matrix_alive(const struct ptc_dp_matrix *g, size_t i, size_t b)
{
	return &g->alive[i * g->nblocks + b];
}

/* Returns the end of block @b: the index behind its last cell. */
static inline size_t ptc_dp_matrix_block_end(const struct ptc_dp_matrix *g, size_t b)
{
	return (b + 1) * PTC_DP_MATRIX_BLOCK < g->stride ? (b + 1) * PTC_DP_MATRIX_BLOCK :
							   g->stride;
}

/* Is cell @at part of a path that costs no more than the cheapest one, as far as known? */
static inline bool ptc_dp_matrix_is_near(const struct ptc_dp_matrix *g, size_t at)
{
	return (uint32_t)g->ahead[at] + g->behind[at] <= g->best;
}

bool ptc_dp_matrix_is_untraced(const struct ptc_dp_matrix *g, const struct ptc_branch *e);

/* Judge entry @e and step @s, which have both ends in common. */
enum ptc_verdict ptc_dp_matrix_verdict(const struct ptc_dp_matrix *g, const struct ptc_branch *e,
				       const struct ptc_step *s);

/* List all edges into (@i, @j), preferred ones first. @i is not 0. Returns their number. */
size_t ptc_dp_matrix_edges(const struct ptc_dp_matrix *g, size_t i, size_t j,
			   struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES]);

/* Fill ahead and alive, and set best and end. */
void ptc_dp_matrix_fill(struct ptc_dp_matrix *g);
/*
 * Then fill behind, for the cells that a cheapest path may pass. Values of other cells may be too
 * high.
 */
void ptc_dp_matrix_fill_behind(struct ptc_dp_matrix *g);

#endif
