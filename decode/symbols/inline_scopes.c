/* SPDX-License-Identifier: MIT */
#include "decode/symbols/inline_scopes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/sorted.h"

enum {
	TREE_DEPTH_MAX = 256,	 /* limit: a deeper tree counts as broken */
	CODE_MAX = 1 << 25,	 /* limit: ranges of all DIEs of a file; they may share a list */
	SKIPS_MAX = 32,		 /* limit: bytes that libdw skips, for each byte of the unit */
	SKIPPED_SMALL = 1 << 20, /* bytes below which that limit does not count */
	ASK_EVERY = 1 << 12,	 /* DIEs for which libdw may read new abbreviations */
	ASK_COST = 1 << 16,
};

/* Code of a function: [start, end). */
struct code_range {
	uint64_t start, end;
	size_t scope;
	size_t below; /* the range around it, while the ranges are flattened */
};

struct tree {
	struct ptc_inline_scopes *s;
	struct code_range *ranges; /* owned */
	size_t n, cap;
	size_t visited;	       /* DIEs */
	size_t *code;	       /* lent; ranges of the file, with the empty ones */
	uint64_t skipped;      /* bytes of DIEs that libdw has passed to find a sibling */
	Dwarf_Off first, last; /* offsets of the unit's DIE, and of the DIE that was visited last */
	bool no_memory;
};

/* Adds the code of @die, which is function @scope. Returns false if there is too much. */
static bool add_code(struct tree *t, Dwarf_Die *die, size_t scope)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (++*t->code > CODE_MAX)
			return false;
		if (start >= end)
			continue;
		if (!ptc_grow(&t->ranges, &t->cap, t->n + 1, sizeof(*t->ranges)))
			return false;
		t->ranges[t->n++] = (struct code_range){ start, end, scope, PTC_INLINE_NONE };
	}
	return true;
}

/* Adds @die if it is a function with code. *@scope: the function around it, becomes @die. */
static bool add_scope(struct tree *t, Dwarf_Die *die, size_t *scope)
{
	const int tag = dwarf_tag(die);
	const bool inlined = tag == DW_TAG_inlined_subroutine;
	const size_t around = *scope, n = t->n;
	struct ptc_inline_scopes *s = t->s;
	unsigned int depth = 0;

	if (tag != DW_TAG_subprogram && !inlined)
		return true;
	/* Nothing inlines at the top: the tree is broken here, or its function has no code. */
	if (inlined && around == PTC_INLINE_NONE)
		return true;
	if (inlined)
		depth = s->v[around].depth + 1;
	if (depth >= PTC_INLINE_MAX)
		return true;
	if (!add_code(t, die, s->n))
		return false;
	if (t->n == n) {
		*scope = inlined ? around : PTC_INLINE_NONE;
		return true;
	}
	if (!ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return false;
	s->v[s->n] = (struct ptc_inline_scope){ .die = dwarf_dieoffset(die),
						.caller = inlined ? around : PTC_INLINE_NONE,
						.depth = depth };
	*scope = s->n++;
	return true;
}

/*
 * Checks a DIE before it is used. Offsets ascend in the order of the walk, so a broken reference to
 * a sibling makes no endless loop.
 */
static bool may_visit(struct tree *t, Dwarf_Die *die)
{
	const Dwarf_Off off = dwarf_dieoffset(die);

	if (t->visited && off <= t->last)
		return false;
	t->first = t->visited ? t->first : off;
	t->last = off;
	if (t->visited++ % ASK_EVERY == 0 && !ptc_budget_allows_fragile(ASK_COST))
		t->no_memory = true;
	return !t->no_memory;
}

/*
 * Counts the bytes that libdw passes to find the sibling of @die, whose children were visited.
 * Without DW_AT_sibling, libdw passes a DIE once for each DIE around it. Returns false if the tree
 * is too deep for its size.
 */
static bool may_skip(struct tree *t, Dwarf_Die *die)
{
	t->skipped += t->last - dwarf_dieoffset(die);
	return t->skipped < SKIPPED_SMALL || t->skipped / SKIPS_MAX < t->last - t->first;
}

/*
 * Goes to the DIE that follows the DIE at *@depth and all DIEs below that one. Returns 0, 1 if
 * there is none, or -1 if the tree is broken.
 */
static int step_over(struct tree *t, Dwarf_Die *path, size_t *scopes, size_t *depth)
{
	int r = 1;

	for (; *depth; --*depth) {
		if (!may_skip(t, &path[*depth]))
			return -1;
		r = dwarf_siblingof(&path[*depth], &path[*depth]);
		scopes[*depth] = scopes[*depth - 1];
		if (r <= 0)
			break;
	}
	return r;
}

/* Goes to the first DIE below the DIE at *@depth. Returns as step_over. */
static int step_into(Dwarf_Die *path, size_t *scopes, size_t *depth)
{
	const int r = dwarf_child(&path[*depth], &path[*depth + 1]);

	if (r)
		return r;
	scopes[*depth + 1] = scopes[*depth];
	return ++*depth + 1 < TREE_DEPTH_MAX ? 0 : -1;
}

/* Walks the tree below the unit. Returns false if it is broken, or without memory. */
static bool walk_tree(struct tree *t, Dwarf_Die *unit)
{
	Dwarf_Die path[TREE_DEPTH_MAX];
	size_t scopes[TREE_DEPTH_MAX], depth = 0;
	int r = 0;

	path[0] = *unit;
	scopes[0] = PTC_INLINE_NONE;
	while (!r) {
		if (!may_visit(t, &path[depth]))
			return false;
		if (depth && !add_scope(t, &path[depth], &scopes[depth])) {
			t->no_memory = true;
			return false;
		}
		r = step_into(path, scopes, &depth);
		if (r > 0)
			r = step_over(t, path, scopes, &depth);
	}
	return r > 0;
}

/* --- segments --- */

static int by_start_and_depth(const void *pa, const void *pb)
{
	const struct code_range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope; /* outer functions first */
}

/* Begins a segment. A segment without code before it is replaced. */
static bool begin_segment(struct ptc_inline_scopes *s, uint64_t start, size_t scope)
{
	if (s->nsegments && s->segments[s->nsegments - 1].start == start)
		s->nsegments--;
	if (!ptc_grow(&s->segments, &s->segments_cap, s->nsegments + 1, sizeof(*s->segments)))
		return false;
	s->segments[s->nsegments++] = (struct ptc_inline_segment){ start, scope };
	return true;
}

/* Ends all ranges up to @limit. *@top: the innermost open range. */
static bool end_ranges(struct tree *t, uint64_t limit, size_t *top)
{
	const struct code_range *r = t->ranges;
	uint64_t at;

	while (*top != PTC_INLINE_NONE && r[*top].end <= limit) {
		at = r[*top].end;
		while (*top != PTC_INLINE_NONE && r[*top].end <= at)
			*top = r[*top].below;
		if (!begin_segment(t->s, at, *top == PTC_INLINE_NONE ? *top : r[*top].scope))
			return false;
	}
	return true;
}

/* Converts nested ranges to segments that do not overlap. */
static bool flatten(struct tree *t)
{
	size_t top = PTC_INLINE_NONE, i;

	if (t->n)
		qsort(t->ranges, t->n, sizeof(*t->ranges), by_start_and_depth);
	for (i = 0; i < t->n; i++) {
		if (!end_ranges(t, t->ranges[i].start, &top) ||
		    !begin_segment(t->s, t->ranges[i].start, t->ranges[i].scope))
			return false;
		t->ranges[i].below = top;
		top = i;
	}
	return end_ranges(t, UINT64_MAX, &top);
}

bool ptc_inline_scopes_read(struct ptc_inline_scopes *s, Dwarf_Die *unit, size_t *code)
{
	struct tree t = { .s = s };
	bool ok;

	t.code = code;
	ok = walk_tree(&t, unit);
	if (ok && !flatten(&t)) {
		t.no_memory = true;
		ok = false;
	}
	if (!ok)
		ptc_inline_scopes_release(s);
	free(t.ranges);
	return !t.no_memory;
}

void ptc_inline_scopes_release(struct ptc_inline_scopes *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->v[i].owned);
	free(s->v);
	free(s->segments);
	*s = (struct ptc_inline_scopes){ .n = 0 };
}

struct ptc_inline_scope *ptc_inline_scopes_find(const struct ptc_inline_scopes *s, uint64_t addr)
{
	const size_t n = PTC_PARTITION_POINT(i, 0, s->nsegments, s->segments[i].start <= addr);
	const size_t scope = n ? s->segments[n - 1].scope : PTC_INLINE_NONE;

	return scope == PTC_INLINE_NONE ? NULL : &s->v[scope];
}
