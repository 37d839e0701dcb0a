/* SPDX-License-Identifier: MIT */
/*
 * Cells (i, j): i of the entries, from the oldest on, and j of the steps are read. An edge leads
 * into a cell from an earlier one and reads an entry as a step, an entry as nothing, a step as
 * nothing, or two entries as two steps the other way round. A stack may begin anywhere, and end
 * where time allows.
 */
#include "decode/align.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/branchsel.h"
#include "decode/exact.h"

enum {
	COST_DIFFERS = 3, /* one end of an entry, its class, or the order of two */
	COST_TWICE = 3,
	COST_MISSING = 3,
	COST_ABSENT = 12, /* dearer than three steps that the stack lacks */
	COST_OUTSIDE = 4,
	COST_MISFIT = 3,  /* the ip is somewhere else */
	COST_FOREIGN = 3, /* of all that is left over from another thread */
	FEW = 3, /* lacking transfers in a row; entries behind more of them that may be left over */
	NEVER_BYTE = 0x3f,
	NEVER = 0x3f3f,		  /* more than all of a stack's entries absent */
	BLOCK = 64,		  /* cells of a row */
	SWAP_MAX = BLOCK * 4 - 1, /* steps that an edge may read */
	EDGES_MAX = 5,
};

struct edge {
	uint16_t entries; /* that it reads */
	uint8_t steps, cost, verdict;
	bool foreign;
};

struct grid {
	const struct ptc_align_in *in;
	const struct ptc_step *steps; /* of those that fit */
	size_t nsteps, stride;
	bool begins, kernel, ip_known, predicts;
	uint16_t *ahead, *behind;
	uint8_t *alive;
	size_t nblocks; /* of a row */
	uint32_t bound; /* what costs more is not known, but that it does */
	uint32_t best;
	size_t end; /* of the cheapest ones the last */
};

void ptc_align_release(struct ptc_align *a)
{
	free(a->ahead);
	free(a->behind);
	free(a->alive);
	*a = (struct ptc_align){ .cap = 0 };
}

/* Entry @i, from 1, the oldest. */
static const struct ptc_branch *entry(const struct grid *g, size_t i)
{
	return &g->in->entries[g->in->n - i];
}

static const struct ptc_step *step(const struct grid *g, size_t j)
{
	return &g->steps[j - 1];
}

static bool is_same(const struct ptc_branch *e, const struct ptc_step *s)
{
	return ptc_exact_is_same(e, s);
}

static bool is_untraced(const struct grid *g, const struct ptc_branch *e)
{
	return !g->kernel && (ptc_is_kernel_ip(e->from) || ptc_is_kernel_ip(e->to));
}

/* Entry and step have both ends in common. */
static enum ptc_verdict verdict_same(const struct grid *g, const struct ptc_branch *e,
				     const struct ptc_step *s)
{
	return s->flags & PTC_STEP_WANTED ? ptc_exact_verdict(g->in, g->predicts, e, s) :
					    PTC_VERDICT_CLASS;
}

/* Entry @i as step @j. */
static bool match(const struct grid *g, size_t i, size_t j, struct edge *ret)
{
	const struct ptc_branch *e = entry(g, i);
	const struct ptc_step *s = step(g, j);

	if (s->flags & PTC_STEP_GAP || !s->from || !s->to || is_untraced(g, e))
		return false;
	*ret = (struct edge){ .entries = 1, .steps = 1, .cost = COST_DIFFERS };
	if (is_same(e, s)) {
		ret->verdict = (uint8_t)verdict_same(g, e, s);
		if (ret->verdict != PTC_VERDICT_CLASS)
			ret->cost = 0;
		return true;
	}
	ret->verdict = e->from == s->from ? PTC_VERDICT_TARGET : PTC_VERDICT_SOURCE;
	return s->flags & PTC_STEP_WANTED && (e->from == s->from || e->to == s->to);
}

/* Entries @i - 1 and @i as step @j and the wanted one in front of it. */
static bool swap(const struct grid *g, size_t i, size_t j, struct edge *ret)
{
	size_t k = j - 1;

	if (!(step(g, j)->flags & PTC_STEP_WANTED) || !is_same(entry(g, i - 1), step(g, j)) ||
	    is_same(entry(g, i), step(g, j)))
		return false;
	while (k && !(step(g, k)->flags & (PTC_STEP_WANTED | PTC_STEP_GAP)) && j - k < SWAP_MAX)
		k--;
	if (!k || !(step(g, k)->flags & PTC_STEP_WANTED) || !is_same(entry(g, i), step(g, k)))
		return false;
	*ret = (struct edge){ .entries = 2,
			      .steps = (uint8_t)(j - k + 1),
			      .cost = COST_DIFFERS,
			      .verdict = PTC_VERDICT_ORDER };
	return true;
}

/* What an entry behind step @j is that the trace does not have there. */
static enum ptc_verdict verdict_behind(const struct grid *g, size_t j)
{
	if (j ? step(g, j)->flags & PTC_STEP_GAP : g->begins)
		return j ? PTC_VERDICT_GAP : PTC_VERDICT_BEFORE;
	return PTC_VERDICT_ABSENT;
}

/* Entry @i as nothing, behind step @j. */
static struct edge extra(const struct grid *g, size_t i, size_t j)
{
	struct edge e = { .entries = 1, .cost = COST_ABSENT, .verdict = PTC_VERDICT_ABSENT };
	const enum ptc_verdict outside = verdict_behind(g, j);

	if (is_untraced(g, entry(g, i))) {
		e.cost = 0;
		e.verdict = PTC_VERDICT_UNTRACED;
	} else if (outside != PTC_VERDICT_ABSENT) {
		e.cost = COST_OUTSIDE;
		e.verdict = (uint8_t)outside;
	} else if (i > 1 && entry(g, i)->from == entry(g, i - 1)->from &&
		   entry(g, i)->to == entry(g, i - 1)->to) {
		/* Of two copies the newer one is taken to be too many. */
		e.cost = COST_TWICE;
		e.verdict = PTC_VERDICT_DUPLICATED;
	}
	return e;
}

/* Step @j as nothing: behind the newest entry a stack has ended. */
static bool skip(const struct grid *g, size_t i, size_t j, struct edge *ret)
{
	*ret = (struct edge){ .steps = 1,
			      .cost = step(g, j)->flags & PTC_STEP_WANTED ? COST_MISSING : 0 };
	return i < g->in->n;
}

/* The @i oldest entries as left over from another thread, behind step @j. */
static bool foreign(const struct grid *g, size_t i, size_t j, struct edge *ret)
{
	*ret = (struct edge){ .entries = (uint16_t)i,
			      .cost = COST_FOREIGN,
			      .verdict = (uint8_t)verdict_behind(g, j),
			      .foreign = true };
	return g->in->foreign && g->in->foreign[i];
}

/* All edges into (@i, @j), those that are to be preferred first; @i is not 0. */
static size_t edges(const struct grid *g, size_t i, size_t j, struct edge e[EDGES_MAX])
{
	size_t n = 0;

	n += j && match(g, i, j, &e[n]);
	n += j > 1 && i > 1 && swap(g, i, j, &e[n]);
	e[n++] = extra(g, i, j);
	n += foreign(g, i, j, &e[n]);
	n += j && skip(g, i, j, &e[n]);
	return n;
}

static size_t cell(const struct grid *g, size_t i, size_t j)
{
	return i * g->stride + j;
}

/* Where @e comes from that leads to @to. */
static size_t origin(const struct grid *g, size_t to, const struct edge *e)
{
	return to - e->entries * g->stride - e->steps;
}

/* The cost of ending behind step @j. */
static uint32_t end_cost(const struct grid *g, size_t j)
{
	if (!j || !(step(g, j)->flags & PTC_STEP_END))
		return NEVER;
	return g->ip_known && !(step(g, j)->flags & PTC_STEP_FITS) ? COST_MISFIT : 0;
}

static uint8_t *alive(const struct grid *g, size_t i, size_t b)
{
	return &g->alive[i * g->nblocks + b];
}

/* Behind the last cell of block @b. */
static size_t block_end(const struct grid *g, size_t b)
{
	return (b + 1) * BLOCK < g->stride ? (b + 1) * BLOCK : g->stride;
}

/* Does any edge into block @b of row @i come from a block that is alive? */
static bool is_reached(struct grid *g, size_t i, size_t b)
{
	size_t k;

	if ((g->in->foreign && g->in->foreign[i]) || *alive(g, i - 1, b) ||
	    (b && (*alive(g, i - 1, b - 1) || *alive(g, i, b - 1))))
		return true;
	for (k = 0; i > 1 && k <= b && k <= (SWAP_MAX + BLOCK - 1) / BLOCK; k++)
		if (*alive(g, i - 2, b - k))
			return true;
	memset(&g->ahead[cell(g, i, b * BLOCK)], NEVER_BYTE,
	       (block_end(g, b) - b * BLOCK) * sizeof(*g->ahead));
	return false;
}

/* All edges into (@i, @j) that may matter: next to nearly all cells there is none that is cheap
 * enough to come from, and then nothing but a swap reaches that far. */
static size_t likely_edges(const struct grid *g, size_t i, size_t j, struct edge e[EDGES_MAX])
{
	const uint16_t *to = &g->ahead[cell(g, i, j)], *older = to - g->stride;

	if (!j || *older <= g->bound || older[-1] <= g->bound || to[-1] <= g->bound ||
	    (g->in->foreign && g->in->foreign[i]))
		return edges(g, i, j, e);
	return j > 1 && i > 1 && swap(g, i, j, e);
}

/* Returns whether it is alive. */
static bool fill_block(struct grid *g, size_t i, size_t b)
{
	uint32_t least = NEVER;
	struct edge e[EDGES_MAX];
	size_t j, k;

	for (j = b * BLOCK; j < block_end(g, b); j++) {
		const size_t at = cell(g, i, j), n = likely_edges(g, i, j, e);
		uint32_t best = NEVER;

		for (k = 0; k < n; k++) {
			const uint32_t cost = g->ahead[origin(g, at, &e[k])] + e[k].cost;

			best = cost < best ? cost : best;
		}
		g->ahead[at] = (uint16_t)best;
		least = best < least ? best : least;
	}
	return least <= g->bound;
}

static void fill_ahead(struct grid *g)
{
	size_t i, b;

	memset(g->ahead, 0, g->stride * sizeof(*g->ahead));
	memset(g->alive, 1, g->nblocks);
	for (i = 1; i <= g->in->n; i++)
		for (b = 0; b < g->nblocks; b++)
			*alive(g, i, b) = is_reached(g, i, b) && fill_block(g, i, b);
}

/* Is cell @at part of a way that costs no more than the cheapest one, as far as is known? */
static bool is_near(const struct grid *g, size_t at)
{
	return (uint32_t)g->ahead[at] + g->behind[at] <= g->best;
}

static void fill_behind_block(struct grid *g, size_t i, size_t b)
{
	struct edge e[EDGES_MAX];
	size_t j, k;

	for (j = block_end(g, b); j-- > b * BLOCK;) {
		const size_t at = cell(g, i, j);
		size_t n;

		if (!is_near(g, at))
			continue;
		n = edges(g, i, j, e);
		for (k = 0; k < n; k++) {
			uint16_t *to = &g->behind[origin(g, at, &e[k])];
			const uint32_t cost = (uint32_t)g->behind[at] + e[k].cost;

			*to = cost < *to ? (uint16_t)cost : *to;
		}
	}
}

/* Of the cells that a cheapest way may lead through; what others cost from there is not less. */
static void fill_behind(struct grid *g)
{
	size_t i, j, b;

	memset(g->behind, NEVER_BYTE, cell(g, g->in->n, 0) * sizeof(*g->behind));
	for (j = 0; j <= g->nsteps; j++)
		g->behind[cell(g, g->in->n, j)] = (uint16_t)end_cost(g, j);
	for (i = g->in->n; i; i--)
		for (b = g->nblocks; b--;)
			if (*alive(g, i, b))
				fill_behind_block(g, i, b);
}

static void find_best(struct grid *g)
{
	size_t j;

	g->best = NEVER;
	for (j = 0; j <= g->nsteps; j++) {
		const uint32_t cost = g->ahead[cell(g, g->in->n, j)] + end_cost(g, j);

		if (cost <= g->best) {
			g->best = cost;
			g->end = j;
		}
	}
}

/* Cells that cost more than the best way does need not be known: it is looked for a cheap one
 * first. */
static void find_cost(struct grid *g)
{
	static const uint32_t bounds[] = { COST_ABSENT - 1, 4 * COST_ABSENT - 1, NEVER };
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		g->bound = bounds[i];
		fill_ahead(g);
		find_best(g);
		if (g->best <= g->bound)
			break;
	}
}

/* Is @e, into @at, part of a cheapest way? */
static bool is_cheapest(const struct grid *g, size_t at, const struct edge *e)
{
	return (uint32_t)g->ahead[origin(g, at, e)] + e->cost + g->behind[at] == g->best;
}

/* Step @j, or the one in front of it that is in a stack. 0: none. */
static size_t wanted_at(const struct grid *g, size_t j)
{
	while (j && !(step(g, j)->flags & (PTC_STEP_WANTED | PTC_STEP_GAP)))
		j--;
	return j && step(g, j)->flags & PTC_STEP_WANTED ? j : 0;
}

/*
 * Which step entry @i - @of, of those that the edge @e into (@i, @j) reads, is read as. What is
 * left over may be the same as what should be there.
 */
static size_t step_of(const struct grid *g, const struct edge *e, size_t i, size_t j, size_t of)
{
	size_t k, at = wanted_at(g, j);

	if (!e->foreign)
		return !e->steps ? 0 : e->entries == 2 && !of ? j - e->steps + 1 : j;
	for (k = 0; k < of && at; k++)
		at = wanted_at(g, at - 1);
	return at && is_same(entry(g, i - of), step(g, at)) ? at : 0;
}

static enum ptc_verdict verdict_of(const struct grid *g, const struct edge *e, size_t i, size_t at)
{
	if (e->foreign && at)
		return verdict_same(g, entry(g, i), step(g, at));
	return (enum ptc_verdict)e->verdict;
}

/* As a bit. */
static uint16_t said_by(const struct grid *g, const struct edge *e, size_t i, size_t j, size_t of)
{
	return (uint16_t)(1u << verdict_of(g, e, i - of, step_of(g, e, i, j, of)));
}

/* What the cheapest ways through a cell say. Returns whether one ends there. */
static bool collect_cell(const struct grid *g, size_t i, size_t j, uint16_t said[])
{
	const size_t at = cell(g, i, j);
	struct edge e[EDGES_MAX];
	const size_t n = edges(g, i, j, e);
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

/* What all the cheapest ways say: a bit for each verdict, of each entry by its number. */
static size_t collect(const struct grid *g, uint16_t said[])
{
	size_t i, j, b, candidates = 0;

	for (i = 1; i <= g->in->n; i++)
		for (b = 0; b < g->nblocks; b++)
			for (j = b * BLOCK; *alive(g, i, b) && j < block_end(g, b); j++)
				if (is_near(g, cell(g, i, j)))
					candidates += collect_cell(g, i, j, said);
	return candidates;
}

/* One of the cheapest ways, back from its end. */
static void follow(const struct grid *g, struct ptc_align_entry *ret)
{
	const size_t skipped = (size_t)(g->steps - g->in->steps);
	size_t i = g->in->n, j = g->end;

	while (i) {
		const size_t at = cell(g, i, j);
		struct edge e[EDGES_MAX];
		size_t k = 0, of;

		edges(g, i, j, e);
		while (!is_cheapest(g, at, &e[k]))
			k++;
		for (of = 0; of < e[k].entries; of++) {
			const size_t s = step_of(g, &e[k], i, j, of);
			const enum ptc_verdict v = verdict_of(g, &e[k], i - of, s);

			ret[g->in->n - i + of] = (struct ptc_align_entry){
				.verdict = (uint8_t)v,
				.cause = v == PTC_VERDICT_GAP ? step(g, j)->kind : 0,
				.step = s ? s - 1 + skipped : PTC_ALIGN_NONE,
			};
		}
		if (!e[k].entries && step(g, j)->flags & PTC_STEP_WANTED)
			ret[g->in->n - i - 1].missing++;
		i -= e[k].entries;
		j -= e[k].steps;
	}
}

/* How many wanted steps are between step number @at, where a stack ends, and where the ip is. */
static void measure_shift(const struct grid *g, size_t at, struct ptc_align_result *ret)
{
	size_t j;

	ret->shift = 0;
	ret->fits = false;
	for (j = at; j <= g->nsteps; j++) {
		if (j > at && step(g, j)->flags & PTC_STEP_WANTED)
			ret->shift++;
		if (step(g, j)->flags & PTC_STEP_FITS) {
			ret->fits = true;
			return;
		}
	}
	ret->shift = 0;
}

/* Does less than half of it make any sense there? A copy does if the original does. */
static bool is_unplaced(const struct grid *g, const struct ptc_align_entry *entries)
{
	size_t i, read = 0, judged = 0;

	for (i = 0; i < g->in->n; i++) {
		const enum ptc_verdict v = (enum ptc_verdict)entries[i].verdict;

		judged += ptc_verdict_is_judged(v) && v != PTC_VERDICT_DUPLICATED;
		read += entries[i].step != PTC_ALIGN_NONE;
	}
	return g->best >= NEVER || !read || read < judged - read;
}

/* Do the cheapest ways differ about whether the stack ends where the ip is? */
static bool is_end_vague(const struct grid *g)
{
	bool fits = false, misfits = false;
	size_t j;

	for (j = 0; j <= g->nsteps; j++)
		if (g->ahead[cell(g, g->in->n, j)] + end_cost(g, j) == g->best) {
			fits |= !end_cost(g, j);
			misfits |= end_cost(g, j);
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
 * The oldest entries may be left over from somebody else who ran the same code: what then looks
 * like one of the trace, a few behind many that lack or beside those that are not in the trace,
 * says nothing.
 */
static void doubt_tail(const struct grid *g, struct ptc_align_entry *ret)
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

/* What a stack lacks is not known either where it can be read in ways that differ. */
static void forget_missing(const struct grid *g, struct ptc_align_entry *ret)
{
	size_t i;

	for (i = 0; i < g->in->n; i++)
		ret[i].missing = 0;
}

static void set_verdicts(const struct grid *g, const uint16_t said[], struct ptc_align_entry *ret)
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
 * The stack as it is where time and ip have it: nothing is cheaper, and most are like that.
 * Verdicts are the same at all such places: a branch has one class.
 */
static bool find_exact(const struct grid *g, struct ptc_align_entry *ret,
		       struct ptc_align_result *ret_all)
{
	const size_t skipped = (size_t)(g->steps - g->in->steps);
	size_t i, j, candidates = 0, end = 0;
	struct ptc_exact x;

	for (i = 1; i <= g->in->n; i++)
		if (is_untraced(g, entry(g, i)))
			return false;
	ptc_exact_init(&x, g->in->entries, g->in->n);
	for (j = g->nsteps; j; j--) {
		if (step(g, j)->flags & PTC_STEP_GAP)
			ptc_exact_cut(&x);
		if (!(step(g, j)->flags & PTC_STEP_WANTED) ||
		    !ptc_exact_feed(&x, step(g, j), j - 1 + skipped) ||
		    end_cost(g, ptc_exact_at(&x, 0) - skipped + 1))
			continue;
		if (!candidates++) {
			end = ptc_exact_at(&x, 0) - skipped + 1;
			ptc_exact_read(&x, g->in, g->in->steps, ret);
		}
	}
	if (!candidates)
		return false;
	*ret_all = (struct ptc_align_result){ .candidates = candidates };
	measure_shift(g, end, ret_all);
	return true;
}

static bool reserve(struct ptc_align *a, size_t cells)
{
	if (cells <= a->cap)
		return true;
	ptc_align_release(a);
	a->ahead = calloc(cells, sizeof(*a->ahead));
	a->behind = calloc(cells, sizeof(*a->behind));
	a->alive = calloc(cells, 1); /* a block has a cell at least */
	if (!a->ahead || !a->behind || !a->alive) {
		ptc_align_release(a);
		return false;
	}
	a->cap = cells;
	return true;
}

static void look_at_input(struct grid *g)
{
	uint64_t ends = 0;
	uint8_t flags = 0;
	size_t j;

	g->predicts = ptc_exact_predicts(g->in);
	for (j = 1; j <= g->nsteps; j++) {
		const struct ptc_step *s = step(g, j);

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
	struct grid g = { .in = in,
			  .steps = in->steps + (in->nsteps - nsteps),
			  .nsteps = nsteps,
			  .stride = nsteps + 1,
			  .begins = in->begins && nsteps == in->nsteps };
	uint16_t said[PTC_ALIGN_ENTRIES] = { 0 };

	*ret = (struct ptc_align_result){ .cost = 0 };
	look_at_input(&g);
	if (!in->n || find_exact(&g, ret_entries, ret))
		return 0;
	if (!reserve(a, (in->n + 1) * g.stride))
		return PTC_E_NO_MEMORY;
	g.ahead = a->ahead;
	g.behind = a->behind;
	g.alive = a->alive;
	g.nblocks = (g.stride + BLOCK - 1) / BLOCK;
	find_cost(&g);
	memset(ret_entries, 0, in->n * sizeof(*ret_entries));
	ret->cost = g.best;
	if (g.best < NEVER) {
		fill_behind(&g);
		ret->candidates = collect(&g, said);
		follow(&g, ret_entries);
		measure_shift(&g, g.end, ret);
	}
	set_verdicts(&g, said, ret_entries);
	return 0;
}
