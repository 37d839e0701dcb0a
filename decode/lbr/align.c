/* SPDX-License-Identifier: MIT */
/* Derives the verdict of each entry from the cheapest paths through the matrix. */
#include "decode/lbr/align.h"

#include <stdlib.h>
#include <string.h>

#include "decode/lbr/dp_matrix.h"
#include "decode/lbr/kmp.h"
#include "ptcap/branchsel.h"

enum {
	FEW = 3
}; /* missing branches in a row; behind more of them, so many entries may be left over */

void ptc_align_release(struct ptc_align *a)
{
	free(a->ahead);
	free(a->behind);
	free(a->alive);
	*a = (struct ptc_align){ .cap = 0 };
}

/* Is edge @e, into cell @at, part of a cheapest path? */
static bool is_cheapest(const struct ptc_dp_matrix *g, size_t at,
			const struct ptc_dp_matrix_edge *e)
{
	return (uint32_t)g->ahead[ptc_dp_matrix_origin(g, at, e)] + e->cost + g->behind[at] ==
	       g->best;
}

/* Returns step @j, or the wanted step in front of it. 0: there is none, or a gap comes first. */
static size_t wanted_at(const struct ptc_dp_matrix *g, size_t j)
{
	while (j && !(ptc_dp_matrix_step(g, j)->flags & (PTC_STEP_WANTED | PTC_STEP_GAP)))
		j--;
	return j && ptc_dp_matrix_step(g, j)->flags & PTC_STEP_WANTED ? j : 0;
}

/*
 * Returns the step that entry @i - @of is read as, by the edge @e into (@i, @j). 0: none. A
 * leftover entry may equal the step that belongs there.
 */
static size_t step_of(const struct ptc_dp_matrix *g, const struct ptc_dp_matrix_edge *e, size_t i,
		      size_t j, size_t of)
{
	size_t k, at = wanted_at(g, j);

	if (!e->foreign)
		return !e->steps ? 0 : e->entries == 2 && !of ? j - e->steps + 1 : j;
	for (k = 0; k < of && at; k++)
		at = wanted_at(g, at - 1);
	return at && ptc_kmp_is_same(ptc_dp_matrix_entry(g, i - of), ptc_dp_matrix_step(g, at)) ?
		       at :
		       0;
}

static enum ptc_verdict verdict_of(const struct ptc_dp_matrix *g,
				   const struct ptc_dp_matrix_edge *e, size_t i, size_t at)
{
	if (e->foreign && at)
		return ptc_dp_matrix_verdict(g, ptc_dp_matrix_entry(g, i),
					     ptc_dp_matrix_step(g, at));
	return (enum ptc_verdict)e->verdict;
}

/* Returns the verdict as a bit. */
static uint16_t said_by(const struct ptc_dp_matrix *g, const struct ptc_dp_matrix_edge *e, size_t i,
			size_t j, size_t of)
{
	return (uint16_t)(1u << verdict_of(g, e, i - of, step_of(g, e, i, j, of)));
}

/* Collect the verdicts of the cheapest paths through a cell. Returns whether one ends there. */
static bool collect_cell(const struct ptc_dp_matrix *g, size_t i, size_t j, uint16_t said[])
{
	const size_t at = ptc_dp_matrix_cell(g, i, j);
	struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES];
	const size_t n = ptc_dp_matrix_edges(g, i, j, e);
	bool ends = false;
	size_t k, of;

	for (k = 0; k < n; k++) {
		if (!e[k].entries || !is_cheapest(g, at, &e[k]))
			continue;
		for (of = 0; of < e[k].entries; of++)
			said[g->in->n - i + of] |= said_by(g, &e[k], i, j, of);
		ends |= i == g->in->n;
	}
	return ends;
}

/*
 * Collect the verdicts of all cheapest paths: a bit per verdict, by entry. Returns the number of
 * ends.
 */
static size_t collect(const struct ptc_dp_matrix *g, uint16_t said[])
{
	size_t i, j, b, candidates = 0;

	for (i = 1; i <= g->in->n; i++)
		for (b = 0; b < g->nblocks; b++)
			for (j = b * PTC_DP_MATRIX_BLOCK;
			     *ptc_dp_matrix_alive(g, i, b) && j < ptc_dp_matrix_block_end(g, b);
			     j++)
				if (ptc_dp_matrix_is_near(g, ptc_dp_matrix_cell(g, i, j)))
					candidates += collect_cell(g, i, j, said);
	return candidates;
}

/* Follow one of the cheapest paths, back from its end. */
static void follow_cheapest_path(const struct ptc_dp_matrix *g, struct ptc_align_entry *ret)
{
	const size_t skipped = (size_t)(g->steps - g->in->steps);
	size_t i = g->in->n, j = g->end;

	while (i) {
		const size_t at = ptc_dp_matrix_cell(g, i, j);
		struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES];
		size_t k = 0, of;

		ptc_dp_matrix_edges(g, i, j, e);
		while (!is_cheapest(g, at, &e[k]))
			k++;
		for (of = 0; of < e[k].entries; of++) {
			const size_t s = step_of(g, &e[k], i, j, of);
			const enum ptc_verdict v = verdict_of(g, &e[k], i - of, s);

			ret[g->in->n - i + of] = (struct ptc_align_entry){
				.verdict = (uint8_t)v,
				.cause = v == PTC_VERDICT_GAP ? ptc_dp_matrix_step(g, j)->kind : 0,
				.step = s ? s - 1 + skipped : PTC_ALIGN_NONE,
			};
		}
		if (!e[k].entries && ptc_dp_matrix_step(g, j)->flags & PTC_STEP_WANTED)
			ret[g->in->n - i - 1].missing++;
		i -= e[k].entries;
		j -= e[k].steps;
	}
}

/* Count the wanted steps between step number @at, where a stack ends, and the place of the ip. */
static void measure_shift(const struct ptc_dp_matrix *g, size_t at, struct ptc_align_result *ret)
{
	size_t j;

	ret->shift = 0;
	ret->fits = false;
	for (j = at; j <= g->nsteps; j++) {
		if (j > at && ptc_dp_matrix_step(g, j)->flags & PTC_STEP_WANTED)
			ret->shift++;
		if (ptc_dp_matrix_step(g, j)->flags & PTC_STEP_FITS) {
			ret->fits = true;
			return;
		}
	}
	ret->shift = 0;
}

/* Does less than half of the stack make sense there? A copy makes sense if its original does. */
static bool is_unplaced(const struct ptc_dp_matrix *g, const struct ptc_align_entry *entries)
{
	size_t i, read = 0, judged = 0;

	for (i = 0; i < g->in->n; i++) {
		const enum ptc_verdict v = (enum ptc_verdict)entries[i].verdict;

		judged += ptc_verdict_is_judged(v) && v != PTC_VERDICT_DUPLICATED;
		read += entries[i].step != PTC_ALIGN_NONE;
	}
	return g->best >= PTC_DP_MATRIX_NEVER || !read || read < judged - read;
}

/* Do the cheapest paths differ about whether the stack ends at the ip? */
static bool is_end_vague(const struct ptc_dp_matrix *g)
{
	bool fits = false, misfits = false;
	size_t j;

	for (j = 0; j <= g->nsteps; j++)
		if (g->ahead[ptc_dp_matrix_cell(g, g->in->n, j)] + ptc_dp_matrix_end_cost(g, j) ==
		    g->best) {
			fits |= !ptc_dp_matrix_end_cost(g, j);
			misfits |= ptc_dp_matrix_end_cost(g, j);
		}
	return fits && misfits;
}

static void set_ambiguous(struct ptc_align_entry *e)
{
	if (ptc_verdict_is_judged((enum ptc_verdict)e->verdict))
		*e = (struct ptc_align_entry){ .verdict = PTC_VERDICT_AMBIGUOUS,
					       .step = PTC_ALIGN_NONE };
}

/*
 * The oldest entries may be left over from another thread that ran the same code. They may then
 * look like traced branches. So a few entries behind many missing branches are ambiguous. So are
 * entries beside entries that the trace lacks.
 */
static void doubt_tail(const struct ptc_dp_matrix *g, struct ptc_align_entry *ret)
{
	const size_t n = g->in->n;
	bool absent = false;
	size_t i, k;

	for (i = 1; i <= FEW && i < n; i++)
		if (ret[n - 1 - i].missing > FEW) {
			ret[n - 1 - i].missing = 0;
			for (k = n - i; k < n; k++)
				set_ambiguous(&ret[k]);
		}
	for (i = n; i; i--) {
		const uint8_t v = ret[i - 1].verdict;

		absent |= v == PTC_VERDICT_ABSENT;
		if (v == PTC_VERDICT_EXACT || v >= PTC_VERDICT_BEFORE)
			break;
	}
	for (; i < n && absent; i++)
		if (ret[i].verdict == PTC_VERDICT_TARGET || ret[i].verdict == PTC_VERDICT_SOURCE)
			set_ambiguous(&ret[i]);
}

/* If a stack has different readings, its missing branches are unknown, too. */
static void forget_missing(const struct ptc_dp_matrix *g, struct ptc_align_entry *ret)
{
	size_t i;

	for (i = 0; i < g->in->n; i++)
		ret[i].missing = 0;
}

static void set_verdicts(const struct ptc_dp_matrix *g, const uint16_t said[],
			 struct ptc_align_entry *ret)
{
	const bool unplaced = is_unplaced(g, ret);
	bool ambiguous = false;
	size_t i;

	for (i = 0; i < g->in->n; i++) {
		if (unplaced && ptc_verdict_is_judged((enum ptc_verdict)ret[i].verdict)) {
			ret[i] = (struct ptc_align_entry){ .verdict = PTC_VERDICT_UNPLACED,
							   .step = PTC_ALIGN_NONE };
		} else if (said[i] & (said[i] - 1)) {
			ret[i].verdict = PTC_VERDICT_AMBIGUOUS;
			ambiguous = true;
		}
	}
	if (ambiguous || unplaced || is_end_vague(g))
		forget_missing(g, ret);
	doubt_tail(g, ret);
}

/*
 * Find the stack exactly as it is, where time and ip allow it. Nothing is cheaper, and most stacks
 * are found so. Verdicts are the same at all such places: a branch has one class.
 */
static bool find_exact(const struct ptc_dp_matrix *g, struct ptc_align_entry *ret,
		       struct ptc_align_result *ret_all)
{
	const size_t skipped = (size_t)(g->steps - g->in->steps);
	size_t i, j, candidates = 0, end = 0;
	struct ptc_kmp x;

	for (i = 1; i <= g->in->n; i++)
		if (ptc_dp_matrix_is_untraced(g, ptc_dp_matrix_entry(g, i)))
			return false;
	ptc_kmp_init(&x, g->in->entries, g->in->n);
	for (j = g->nsteps; j; j--) {
		if (ptc_dp_matrix_step(g, j)->flags & PTC_STEP_GAP)
			ptc_kmp_cut(&x);
		if (!(ptc_dp_matrix_step(g, j)->flags & PTC_STEP_WANTED) ||
		    !ptc_kmp_feed(&x, ptc_dp_matrix_step(g, j), j - 1 + skipped) ||
		    ptc_dp_matrix_end_cost(g, ptc_kmp_at(&x, 0) - skipped + 1))
			continue;
		if (!candidates++) {
			end = ptc_kmp_at(&x, 0) - skipped + 1;
			ptc_kmp_read(&x, g->in, g->in->steps, ret);
		}
	}
	if (!candidates)
		return false;
	*ret_all = (struct ptc_align_result){ .candidates = candidates };
	measure_shift(g, end, ret_all);
	return true;
}

static bool reserve_grid_cells(struct ptc_align *a, size_t cells)
{
	if (cells <= a->cap)
		return true;
	ptc_align_release(a);
	a->ahead = calloc(cells, sizeof(*a->ahead));
	a->behind = calloc(cells, sizeof(*a->behind));
	a->alive = calloc(cells, 1); /* a block has at least one cell */
	if (!a->ahead || !a->behind || !a->alive) {
		ptc_align_release(a);
		return false;
	}
	a->cap = cells;
	return true;
}

static void look_at_input(struct ptc_dp_matrix *g)
{
	uint64_t ends = 0;
	uint8_t flags = 0;
	size_t j;

	g->predicts = ptc_kmp_predicts(g->in);
	for (j = 1; j <= g->nsteps; j++) {
		const struct ptc_step *s = ptc_dp_matrix_step(g, j);

		flags |= s->flags;
		ends |= s->from | s->to;
	}
	g->ip_known = flags & PTC_STEP_FITS;
	g->kernel = ptc_is_kernel_ip(ends);
}

int ptc_align_run(struct ptc_align *a, const struct ptc_align_in *in,
		  struct ptc_align_entry *ret_entries, struct ptc_align_result *ret)
{
	const size_t most = PTC_ALIGN_CELLS / (in->n + 1) - 1;
	const size_t nsteps = in->nsteps < most ? in->nsteps : most;
	struct ptc_dp_matrix g = { .in = in,
				   .steps = in->steps + (in->nsteps - nsteps),
				   .nsteps = nsteps,
				   .stride = nsteps + 1,
				   .begins = in->begins && nsteps == in->nsteps };
	uint16_t said[PTC_ALIGN_ENTRIES] = { 0 };

	*ret = (struct ptc_align_result){ .cost = 0 };
	look_at_input(&g);
	if (!in->n || find_exact(&g, ret_entries, ret))
		return 0;
	if (!reserve_grid_cells(a, (in->n + 1) * g.stride))
		return PTC_E_NO_MEMORY;
	g.ahead = a->ahead;
	g.behind = a->behind;
	g.alive = a->alive;
	g.nblocks = (g.stride + PTC_DP_MATRIX_BLOCK - 1) / PTC_DP_MATRIX_BLOCK;
	ptc_dp_matrix_fill(&g);
	memset(ret_entries, 0, in->n * sizeof(*ret_entries));
	ret->cost = g.best;
	if (g.best < PTC_DP_MATRIX_NEVER) {
		ptc_dp_matrix_fill_behind(&g);
		ret->candidates = collect(&g, said);
		follow_cheapest_path(&g, ret_entries);
		measure_shift(&g, g.end, ret);
	}
	set_verdicts(&g, said, ret_entries);
	return 0;
}
