/* SPDX-License-Identifier: MIT */
#include "cli/serve/branch_store.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/serve/number_codec.h"

void ptc_branch_store_release(struct ptc_branch_store *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->rows[i].chunks);
		ptc_buf_release(&s->rows[i].raw);
	}
	free(s->rows);
	*s = (struct ptc_branch_store){ .n = 0 };
}

static int end_branch_chunk(struct ptc_branch_store *s, struct ptc_branch_row *r,
			    struct ptc_err *err)
{
	int rc = ptc_buf_failed(&r->raw) ? ptc_fail_mem(err) : 0;

	if (!rc && r->now.n)
		rc = ptc_packed_chunk_put(s->file, &r->raw, &r->now.packed, err);
	if (rc || !r->now.n)
		return rc;
	if (!ptc_grow(&r->chunks, &r->cap, r->n + 1, sizeof(*r->chunks)))
		return ptc_fail_mem(err);
	r->now.end = r->last;
	r->chunks[r->n++] = r->now;
	r->now = (struct ptc_branch_chunk){ .index = r->total, .begin = r->last };
	ptc_buf_reset(&r->raw);
	return 0;
}

int ptc_branch_store_add(struct ptc_branch_store *s, uint32_t thread,
			 const struct ptc_served_branch *branch, size_t chunk, struct ptc_err *err)
{
	struct ptc_branch_row *r;

	if (thread >= s->n && !ptc_grow(&s->rows, &s->cap, thread + 1, sizeof(*s->rows)))
		return ptc_fail_mem(err);
	for (; s->n <= thread; s->n++)
		s->rows[s->n] = (struct ptc_branch_row){ .raw = PTC_BUF_INIT };
	r = &s->rows[thread];
	ptc_put_leb128(&r->raw, branch->edge);
	ptc_put_leb128(&r->raw, branch->at.insns - r->last.insns);
	ptc_put_leb128(&r->raw, branch->at.time_ns - r->last.time_ns);
	r->last = branch->at;
	r->total++;
	r->now.n++;
	return r->raw.len < chunk ? 0 : end_branch_chunk(s, r, err);
}

int ptc_branch_store_finish(struct ptc_branch_store *s, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < s->n && !rc; i++) {
		rc = end_branch_chunk(s, &s->rows[i], err);
		ptc_buf_release(&s->rows[i].raw);
	}
	return rc;
}

static uint64_t place_on(const struct ptc_view_moment *at, int axis)
{
	return axis ? at->time_ns : at->insns;
}

size_t ptc_branch_range(const struct ptc_branch_row *r, int axis, uint64_t from, uint64_t to,
			size_t *ret_end, uint64_t *ret_n)
{
	size_t begin = 0, end = r->n;

	while (begin < end) {
		const size_t mid = begin + (end - begin) / 2;

		if (place_on(&r->chunks[mid].end, axis) < from)
			begin = mid + 1;
		else
			end = mid;
	}
	*ret_n = 0;
	for (end = begin; end < r->n && place_on(&r->chunks[end].begin, axis) <= to; end++)
		*ret_n += r->chunks[end].n;
	*ret_end = end;
	return begin;
}

int ptc_branch_chunk_read(struct ptc_temp_store *file, const struct ptc_branch_chunk *c,
			  struct ptc_buf *bytes, struct ptc_served_branch *ret, struct ptc_err *err)
{
	const int rc = ptc_packed_chunk_get(file, &c->packed, bytes, err);
	struct ptc_numbers from = { bytes->bytes, bytes->bytes + bytes->len, false };
	struct ptc_view_moment at = c->begin;
	uint32_t i;

	if (rc)
		return rc;
	for (i = 0; i < c->n; i++) {
		ret[i].edge = (uint32_t)ptc_numbers_next(&from);
		at.insns += ptc_numbers_next(&from);
		at.time_ns += ptc_numbers_next(&from);
		ret[i].at = at;
	}
	return from.failed ? ptc_fail(err, PTC_E_FORMAT, "the temporary file is damaged") : 0;
}
