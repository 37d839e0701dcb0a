/* SPDX-License-Identifier: MIT */
#include "decode/lbr/dp_matrix.h"

#include <string.h>

#include "decode/lbr/kmp.h"
#include "ptcap/branchsel.h"

enum {
	COST_DIFFERS = 3, /* one end of an entry, its class, or the order of two differs */
	COST_TWICE = 3,
	COST_MISSING = 3,
	COST_ABSENT = 12, /* more than three steps that the stack lacks */
	COST_OUTSIDE = 4,
	COST_FOREIGN = 3, /* for all entries left over from another thread */
	NEVER_BYTE = PTC_DP_MATRIX_NEVER & 0xff,
	SWAP_MAX = PTC_DP_MATRIX_BLOCK * 4 - 1, /* steps that an edge may read */
};

bool ptc_dp_matrix_is_untraced(const struct ptc_dp_matrix *g, const struct ptc_branch *e)
{
	return !g->kernel && (ptc_is_kernel_ip(e->from) || ptc_is_kernel_ip(e->to));
}

enum ptc_verdict ptc_dp_matrix_verdict(const struct ptc_dp_matrix *g, const struct ptc_branch *e,
				       const struct ptc_step *s)
{
	return s->flags & PTC_STEP_WANTED ? ptc_kmp_verdict(g->in, g->predicts, e, s) :
					    PTC_VERDICT_CLASS;
}

/* Is there an edge that reads entry @i as step @j? */
static bool match(const struct ptc_dp_matrix *g, size_t i, size_t j, struct ptc_dp_matrix_edge *ret)
{
	const struct ptc_branch *e = ptc_dp_matrix_entry(g, i);
	const struct ptc_step *s = ptc_dp_matrix_step(g, j);

	if (s->flags & PTC_STEP_GAP || !s->from || !s->to || ptc_dp_matrix_is_untraced(g, e))
		return false;
	*ret = (struct ptc_dp_matrix_edge){ .entries = 1, .steps = 1, .cost = COST_DIFFERS };
	if (ptc_kmp_is_same(e, s)) {
		ret->verdict = (uint8_t)ptc_dp_matrix_verdict(g, e, s);
		if (ret->verdict != PTC_VERDICT_CLASS)
			ret->cost = 0;
		return true;
	}
	ret->verdict = e->from == s->from ? PTC_VERDICT_TARGET : PTC_VERDICT_SOURCE;
	return s->flags & PTC_STEP_WANTED && (e->from == s->from || e->to == s->to);
}

/*
 * Is there an edge that reads entries @i - 1 and @i in reverse order, as step @j and the wanted
 * step in front of it?
 */
static bool swap(const struct ptc_dp_matrix *g, size_t i, size_t j, struct ptc_dp_matrix_edge *ret)
{
	size_t k = j - 1;

	if (!(ptc_dp_matrix_step(g, j)->flags & PTC_STEP_WANTED) ||
	    !ptc_kmp_is_same(ptc_dp_matrix_entry(g, i - 1), ptc_dp_matrix_step(g, j)) ||
	    ptc_kmp_is_same(ptc_dp_matrix_entry(g, i), ptc_dp_matrix_step(g, j)))
		return false;
	while (k && !(ptc_dp_matrix_step(g, k)->flags & (PTC_STEP_WANTED | PTC_STEP_GAP)) &&
	       j - k < SWAP_MAX)
		k--;
	if (!k || !(ptc_dp_matrix_step(g, k)->flags & PTC_STEP_WANTED) ||
	    !ptc_kmp_is_same(ptc_dp_matrix_entry(g, i), ptc_dp_matrix_step(g, k)))
		return false;
	*ret = (struct ptc_dp_matrix_edge){ .entries = 2,
					    .steps = (uint8_t)(j - k + 1),
					    .cost = COST_DIFFERS,
					    .verdict = PTC_VERDICT_ORDER };
	return true;
}

/* Returns the verdict for an entry behind step @j that the trace does not have there. */
static enum ptc_verdict verdict_behind(const struct ptc_dp_matrix *g, size_t j)
{
	if (j ? ptc_dp_matrix_step(g, j)->flags & PTC_STEP_GAP : g->begins)
		return j ? PTC_VERDICT_GAP : PTC_VERDICT_BEFORE;
	return PTC_VERDICT_ABSENT;
}

/* Returns the edge that reads entry @i as nothing, behind step @j. */
static struct ptc_dp_matrix_edge extra(const struct ptc_dp_matrix *g, size_t i, size_t j)
{
	struct ptc_dp_matrix_edge e = { .entries = 1,
					.cost = COST_ABSENT,
					.verdict = PTC_VERDICT_ABSENT };
	const enum ptc_verdict outside = verdict_behind(g, j);

	if (ptc_dp_matrix_is_untraced(g, ptc_dp_matrix_entry(g, i))) {
		e.cost = 0;
		e.verdict = PTC_VERDICT_UNTRACED;
	} else if (outside != PTC_VERDICT_ABSENT) {
		e.cost = COST_OUTSIDE;
		e.verdict = (uint8_t)outside;
	} else if (i > 1 &&
		   ptc_dp_matrix_entry(g, i)->from == ptc_dp_matrix_entry(g, i - 1)->from &&
		   ptc_dp_matrix_entry(g, i)->to == ptc_dp_matrix_entry(g, i - 1)->to) {
		/* The newer one of two copies is the extra one. */
		e.cost = COST_TWICE;
		e.verdict = PTC_VERDICT_DUPLICATED;
	}
	return e;
}

/* Is there an edge that reads step @j as nothing? Behind the newest entry the stack has ended. */
static bool skip(const struct ptc_dp_matrix *g, size_t i, size_t j, struct ptc_dp_matrix_edge *ret)
{
	*ret = (struct ptc_dp_matrix_edge){
		.steps = 1,
		.cost = ptc_dp_matrix_step(g, j)->flags & PTC_STEP_WANTED ? COST_MISSING : 0
	};
	return i < g->in->n;
}

/*
 * Is there an edge that reads the @i oldest entries as left over from another thread, behind step
 * @j?
 */
static bool foreign(const struct ptc_dp_matrix *g, size_t i, size_t j,
		    struct ptc_dp_matrix_edge *ret)
{
	*ret = (struct ptc_dp_matrix_edge){ .entries = (uint16_t)i,
					    .cost = COST_FOREIGN,
					    .verdict = (uint8_t)verdict_behind(g, j),
					    .foreign = true };
	return g->in->foreign && g->in->foreign[i];
}

size_t ptc_dp_matrix_edges(const struct ptc_dp_matrix *g, size_t i, size_t j,
			   struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES])
{
	size_t n = 0;

	n += j && match(g, i, j, &e[n]);
	n += j > 1 && i > 1 && swap(g, i, j, &e[n]);
	e[n++] = extra(g, i, j);
	n += foreign(g, i, j, &e[n]);
	n += j && skip(g, i, j, &e[n]);
	return n;
}

/*
 * Can an edge into block @b of row @i come from a block that is alive? If not, sets its cells to
 * NEVER.
 */
static bool is_reached(struct ptc_dp_matrix *g, size_t i, size_t b)
{
	size_t k;

	if ((g->in->foreign && g->in->foreign[i]) || *ptc_dp_matrix_alive(g, i - 1, b) ||
	    (b && (*ptc_dp_matrix_alive(g, i - 1, b - 1) || *ptc_dp_matrix_alive(g, i, b - 1))))
		return true;
	for (k = 0;
	     i > 1 && k <= b && k <= (SWAP_MAX + PTC_DP_MATRIX_BLOCK - 1) / PTC_DP_MATRIX_BLOCK;
	     k++)
		if (*ptc_dp_matrix_alive(g, i - 2, b - k))
			return true;
	memset(&g->ahead[ptc_dp_matrix_cell(g, i, b * PTC_DP_MATRIX_BLOCK)], NEVER_BYTE,
	       (ptc_dp_matrix_block_end(g, b) - b * PTC_DP_MATRIX_BLOCK) * sizeof(*g->ahead));
	return false;
}

/*
 * List the edges into (@i, @j) that may matter. Nearly all cells have no cheap neighbor to come
 * from. Then only a swap can come from a cheap cell.
 */
static size_t likely_edges(const struct ptc_dp_matrix *g, size_t i, size_t j,
			   struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES])
{
	const uint16_t *to = &g->ahead[ptc_dp_matrix_cell(g, i, j)], *older = to - g->stride;

	if (!j || *older <= g->bound || older[-1] <= g->bound || to[-1] <= g->bound ||
	    (g->in->foreign && g->in->foreign[i]))
		return ptc_dp_matrix_edges(g, i, j, e);
	return j > 1 && i > 1 && swap(g, i, j, e);
}

/* Fill a block. Returns whether it is alive. */
static bool fill_block(struct ptc_dp_matrix *g, size_t i, size_t b)
{
	uint32_t least = PTC_DP_MATRIX_NEVER;
	struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES];
	size_t j, k;

	for (j = b * PTC_DP_MATRIX_BLOCK; j < ptc_dp_matrix_block_end(g, b); j++) {
		const size_t at = ptc_dp_matrix_cell(g, i, j), n = likely_edges(g, i, j, e);
		uint32_t best = PTC_DP_MATRIX_NEVER;

		for (k = 0; k < n; k++) {
			const uint32_t cost =
				g->ahead[ptc_dp_matrix_origin(g, at, &e[k])] + e[k].cost;

			best = cost < best ? cost : best;
		}
		g->ahead[at] = (uint16_t)best;
		least = best < least ? best : least;
	}
	return least <= g->bound;
}

static void fill_ahead(struct ptc_dp_matrix *g)
{
	size_t i, b;

	memset(g->ahead, 0, g->stride * sizeof(*g->ahead));
	memset(g->alive, 1, g->nblocks);
	for (i = 1; i <= g->in->n; i++)
		for (b = 0; b < g->nblocks; b++)
			*ptc_dp_matrix_alive(g, i, b) = is_reached(g, i, b) && fill_block(g, i, b);
}

static void fill_behind_block(struct ptc_dp_matrix *g, size_t i, size_t b)
{
	struct ptc_dp_matrix_edge e[PTC_DP_MATRIX_EDGES];
	size_t j, k;

	for (j = ptc_dp_matrix_block_end(g, b); j-- > b * PTC_DP_MATRIX_BLOCK;) {
		const size_t at = ptc_dp_matrix_cell(g, i, j);
		size_t n;

		if (!ptc_dp_matrix_is_near(g, at))
			continue;
		n = ptc_dp_matrix_edges(g, i, j, e);
		for (k = 0; k < n; k++) {
			uint16_t *to = &g->behind[ptc_dp_matrix_origin(g, at, &e[k])];
			const uint32_t cost = (uint32_t)g->behind[at] + e[k].cost;

			*to = cost < *to ? (uint16_t)cost : *to;
		}
	}
}

void ptc_dp_matrix_fill_behind(struct ptc_dp_matrix *g)
{
	size_t i, j, b;

	memset(g->behind, NEVER_BYTE, ptc_dp_matrix_cell(g, g->in->n, 0) * sizeof(*g->behind));
	for (j = 0; j <= g->nsteps; j++)
		g->behind[ptc_dp_matrix_cell(g, g->in->n, j)] =
			(uint16_t)ptc_dp_matrix_end_cost(g, j);
	for (i = g->in->n; i; i--)
		for (b = g->nblocks; b--;)
			if (*ptc_dp_matrix_alive(g, i, b))
				fill_behind_block(g, i, b);
}

static void find_best(struct ptc_dp_matrix *g)
{
	size_t j;

	g->best = PTC_DP_MATRIX_NEVER;
	for (j = 0; j <= g->nsteps; j++) {
		const uint32_t cost =
			g->ahead[ptc_dp_matrix_cell(g, g->in->n, j)] + ptc_dp_matrix_end_cost(g, j);

		if (cost <= g->best) {
			g->best = cost;
			g->end = j;
		}
	}
}

/* Costs above that of the best path need not be known. So low bounds are tried first. */
void ptc_dp_matrix_fill(struct ptc_dp_matrix *g)
{
	static const uint32_t bounds[] = { COST_ABSENT - 1, 4 * COST_ABSENT - 1,
					   PTC_DP_MATRIX_NEVER };
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		g->bound = bounds[i];
		fill_ahead(g);
		find_best(g);
		if (g->best <= g->bound)
			break;
	}
}
