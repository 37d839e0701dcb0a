/* SPDX-License-Identifier: MIT */
/*
 * Cells (i, j): i of the entries, from the oldest on, and j of the steps are read. An edge leads
 * into a cell from an earlier one and reads an entry as a step, an entry as nothing, a step as
 * nothing, or two entries as two steps the other way round. A stack may begin anywhere, and end
 * where time allows. What the cheapest way to each cell costs, and from it to the end, is here;
 * align.c reads what those ways say.
 */
#ifndef PTC_DECODE_GRID_H
#define PTC_DECODE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/align.h"

enum {
	PTC_GRID_NEVER = 0x3f3f, /* more than all of a stack's entries absent */
	PTC_GRID_BLOCK = 64,	 /* cells of a row */
	PTC_GRID_EDGES = 5,	 /* into a cell, at most */
	PTC_GRID_MISFIT = 3,	 /* the cost of an ip that is somewhere else */
};

struct ptc_grid_edge {
	uint16_t entries; /* that it reads */
	uint8_t steps, cost, verdict;
	bool foreign;
};

struct ptc_grid {
	const struct ptc_align_in *in;
	const struct ptc_step *steps; /* of those that fit */
	size_t nsteps, stride;
	bool begins, kernel, ip_known, predicts;
	uint16_t *ahead, *behind; /* lent; the cost to each cell, and from there */
	uint8_t *alive;		  /* lent; of blocks of a row: is a cell there that may matter? */
	size_t nblocks;		  /* of a row */
	uint32_t bound;		  /* what costs more is not known, but that it does */
	uint32_t best;
	size_t end; /* of the cheapest ones the last */
};

/* Entry @i, from 1, the oldest. */
static inline const struct ptc_branch *ptc_grid_entry(const struct ptc_grid *g, size_t i)
{
	return &g->in->entries[g->in->n - i];
}

static inline const struct ptc_step *ptc_grid_step(const struct ptc_grid *g, size_t j)
{
	return &g->steps[j - 1];
}

static inline size_t ptc_grid_cell(const struct ptc_grid *g, size_t i, size_t j)
{
	return i * g->stride + j;
}

/* Where @e comes from that leads to the cell @to. */
static inline size_t ptc_grid_origin(const struct ptc_grid *g, size_t to,
				     const struct ptc_grid_edge *e)
{
	return to - e->entries * g->stride - e->steps;
}

/* The cost of ending behind step @j. */
static inline uint32_t ptc_grid_end_cost(const struct ptc_grid *g, size_t j)
{
	if (!j || !(ptc_grid_step(g, j)->flags & PTC_STEP_END))
		return PTC_GRID_NEVER;
	return g->ip_known && !(ptc_grid_step(g, j)->flags & PTC_STEP_FITS) ? PTC_GRID_MISFIT : 0;
}

static inline uint8_t *ptc_grid_alive(const struct ptc_grid *g, size_t i, size_t b)
{
	return &g->alive[i * g->nblocks + b];
}

/* Behind the last cell of block @b. */
static inline size_t ptc_grid_block_end(const struct ptc_grid *g, size_t b)
{
	return (b + 1) * PTC_GRID_BLOCK < g->stride ? (b + 1) * PTC_GRID_BLOCK : g->stride;
}

/* Is cell @at part of a way that costs no more than the cheapest one, as far as is known? */
static inline bool ptc_grid_is_near(const struct ptc_grid *g, size_t at)
{
	return (uint32_t)g->ahead[at] + g->behind[at] <= g->best;
}

bool ptc_grid_is_untraced(const struct ptc_grid *g, const struct ptc_branch *e);

/* Entry and step have both ends in common. */
enum ptc_verdict ptc_grid_verdict(const struct ptc_grid *g, const struct ptc_branch *e,
				  const struct ptc_step *s);

/* All edges into (@i, @j), those that are to be preferred first; @i is not 0. How many there are.
 */
size_t ptc_grid_edges(const struct ptc_grid *g, size_t i, size_t j,
		      struct ptc_grid_edge e[PTC_GRID_EDGES]);

/* Fill ahead and alive, and with that best and end. */
void ptc_grid_fill(struct ptc_grid *g);
/*
 * Then behind, of the cells that a cheapest way may lead through; what others cost from there is
 * not less.
 */
void ptc_grid_fill_behind(struct ptc_grid *g);

#endif
