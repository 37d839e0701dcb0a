/* SPDX-License-Identifier: MIT */
#include "cli/serve/window.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/serve/window_cells.h"

enum { BRANCHES_MAX = 100 * 1000 }; /* of a thread; more are not single in a window */
/* Forms of the branches of a window. */
enum { BRANCHES_NONE, BRANCHES_LISTED, BRANCHES_MANY };

static void put_row(const struct ptc_window_cells *w, size_t row, struct ptc_buf *ret)
{
	size_t i = row ? w->ends[row - 1] : 0;
	struct ptc_served_cell last = { .number = 0 };

	ptc_put_leb128(ret, row);
	ptc_put_leb128(ret, w->ends[row] - i);
	for (; i < w->ends[row]; i++) {
		const struct ptc_served_cell *c = &w->sorted[i];

		ptc_put_difference(ret, c->begin, last.end);
		ptc_put_leb128(ret, c->end - c->begin);
		ptc_put_leb128(ret, c->function);
		ptc_put_leb128(ret, c->how);
		ptc_put_difference(ret, c->number, last.number);
		ptc_put_leb128(ret, c->count);
		if (c->count > 1)
			ptc_put_leb128(ret, c->busy);
		last = *c;
	}
}

static void put_rows(const struct ptc_window_cells *w, struct ptc_buf *ret)
{
	size_t row, rows = 0;

	for (row = 0; row < w->rows; row++)
		rows += w->ends[row] > (row ? w->ends[row - 1] : 0);
	ptc_put_leb128(ret, rows);
	for (row = 0; row < w->rows; row++)
		if (w->ends[row] > (row ? w->ends[row - 1] : 0))
			put_row(w, row, ret);
}

static int put_branch_list(struct ptc_served_recording *s, const struct ptc_branch_row *r, size_t i,
			   size_t end, uint64_t n, struct ptc_buf *ret, struct ptc_err *err)
{
	struct ptc_view_moment last = r->chunks[i].begin;
	struct ptc_served_branch *v = NULL;
	struct ptc_buf bytes = PTC_BUF_INIT;
	size_t cap = 0;
	int rc = 0;
	uint32_t k;

	ptc_put_leb128(ret, r->chunks[i].index);
	ptc_put_leb128(ret, last.insns);
	ptc_put_leb128(ret, last.time_ns);
	ptc_put_leb128(ret, n);
	for (; i < end && !rc; i++) {
		const struct ptc_branch_chunk *c = &r->chunks[i];

		if (!ptc_grow(&v, &cap, c->n, sizeof(*v))) {
			rc = ptc_fail_mem(err);
			break;
		}
		rc = ptc_branch_chunk_read(&s->file, c, &bytes, v, err);
		for (k = 0; k < c->n && !rc; k++) {
			ptc_put_leb128(ret, v[k].edge);
			ptc_put_leb128(ret, v[k].at.insns - last.insns);
			ptc_put_leb128(ret, v[k].at.time_ns - last.time_ns);
			last = v[k].at;
		}
	}
	free(v);
	ptc_buf_release(&bytes);
	return rc;
}

static int put_branches_of(struct ptc_served_recording *s, uint32_t thread,
			   const struct ptc_window_ask *ask, struct ptc_buf *ret,
			   struct ptc_err *err)
{
	const struct ptc_branch_row *r = thread < s->branches.n ? &s->branches.rows[thread] : NULL;
	uint64_t n = 0;
	size_t end = 0, i = 0;

	if (r && ask->branches)
		i = ptc_branch_range(r, ask->axis, ask->from, ask->to, &end, &n);
	ptc_put_leb128(ret, !n		     ? BRANCHES_NONE :
			    n > BRANCHES_MAX ? BRANCHES_MANY :
					       BRANCHES_LISTED);
	return n && n <= BRANCHES_MAX ? put_branch_list(s, r, i, end, n, ret, err) : 0;
}

int ptc_window_put(struct ptc_served_recording *s, const struct ptc_window_ask *ask,
		   struct ptc_buf *ret, struct ptc_err *err)
{
	struct ptc_window_cells w = { .n = 0 };
	uint32_t thread;
	int rc = 0;

	for (thread = ask->first; thread <= ask->last && thread < s->calls.n && !rc; thread++) {
		ptc_put_leb128(ret, thread + 1);
		rc = ptc_window_cells_find(&w, s, thread, ask, err);
		if (rc)
			break;
		put_rows(&w, ret);
		rc = put_branches_of(s, thread, ask, ret, err);
	}
	ptc_put_leb128(ret, 0);
	ptc_window_cells_release(&w);
	if (!rc && ptc_buf_failed(ret))
		rc = ptc_fail_mem(err);
	return rc;
}
