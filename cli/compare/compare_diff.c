/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare_diff.h"

#include <stdlib.h>

#include "base/grow.h"

void ptc_side_place_release(struct ptc_side_place *p)
{
	free(p->function);
	free(p->file);
	*p = (struct ptc_side_place){ .function = NULL };
}

static void set_trace(struct ptc_side_row *row, const struct ptc_step *s)
{
	row->kind = s->kind;
	row->trace[0].ip = s->from;
	row->trace[1].ip = s->to;
}

static struct ptc_side_row row_of(const struct ptc_compare_sample *s, size_t i)
{
	const struct ptc_compare_entry *e = ptc_compare_entry(s, i);
	struct ptc_side_row row = { .depth = i,
				    .verdict = e->verdict,
				    .lbr = { { .ip = e->branch->from }, { .ip = e->branch->to } } };

	if (e->step)
		set_trace(&row, e->step);
	return row;
}

bool ptc_side_missing(const struct ptc_compare_sample *s, size_t i,
		      bool (*on_row)(void *ctx, const struct ptc_side_row *row), void *ctx)
{
	uint32_t left = ptc_compare_entry(s, i)->missing;
	const struct ptc_step *step = NULL;

	for (; left; left--) {
		struct ptc_side_row row = { .missing = true, .depth = i };

		step = ptc_compare_missing(s, i, step);
		if (!step)
			return true;
		set_trace(&row, step);
		if (!on_row(ctx, &row))
			return false;
	}
	return true;
}

bool ptc_side_walk(const struct ptc_compare_sample *s,
		   bool (*on_row)(void *ctx, const struct ptc_side_row *row), void *ctx)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct ptc_side_row row = row_of(s, i);

		if (!on_row(ctx, &row) || !ptc_side_missing(s, i, on_row, ctx))
			return false;
	}
	return true;
}

struct filling {
	struct ptc_side *side;
	size_t cap;
	const struct ptc_compare_sample *s;
	const struct ptc_side_names *names;
};

static bool find_names(const struct filling *f, struct ptc_side_end ends[2])
{
	int i;

	for (i = 0; i < 2 && f->names; i++)
		if (ends[i].ip &&
		    !f->names->find(f->names->ctx, &f->s->where, ends[i].ip, &ends[i].place))
			return false;
	return true;
}

static bool add_row(void *ctx, const struct ptc_side_row *row)
{
	struct filling *f = ctx;
	struct ptc_side_row *new;

	if (!ptc_grow(&f->side->rows, &f->cap, f->side->n + 1, sizeof(*row)))
		return false;
	new = &f->side->rows[f->side->n++];
	*new = *row;
	return find_names(f, new->lbr) && find_names(f, new->trace);
}

bool ptc_side_init(struct ptc_side *side, const struct ptc_compare_sample *s, uint64_t wrong,
		   const struct ptc_side_names *names)
{
	struct filling f = { .side = side, .s = s, .names = names };

	*side = (struct ptc_side){ .off = s->off,
				   .time = s->where.time,
				   .tid = s->where.tid,
				   .cpu = s->where.cpu,
				   .wrong = wrong,
				   .candidates = s->candidates };
	if (ptc_side_walk(s, add_row, &f))
		return true;
	ptc_side_release(side);
	return false;
}

void ptc_side_release(struct ptc_side *side)
{
	size_t i;
	int k;

	for (i = 0; i < side->n; i++)
		for (k = 0; k < 2; k++) {
			ptc_side_place_release(&side->rows[i].lbr[k].place);
			ptc_side_place_release(&side->rows[i].trace[k].place);
		}
	free(side->rows);
	*side = (struct ptc_side){ .n = 0 };
}
