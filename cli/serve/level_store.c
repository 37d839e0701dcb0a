/* SPDX-License-Identifier: MIT */
#include "cli/serve/level_store.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"

static void drop_level(struct ptc_level *l)
{
	free(l->pending.v);
	free(l->pending.of_depth);
	free(l->chunks);
	ptc_buf_release(&l->raw);
}

void ptc_level_store_release(struct ptc_level_store *s)
{
	size_t k;

	for (k = 0; k < PTC_LEVELS; k++)
		drop_level(&s->levels[k]);
	*s = (struct ptc_level_store){ .levels[0].n = 0 };
}

bool ptc_short_cells_add(struct ptc_short_cells *p, const struct ptc_served_cell *cell)
{
	if (!ptc_grow(&p->of_depth, &p->depths_cap, (size_t)cell->depth + 1, sizeof(*p->of_depth)))
		return false;
	while (p->depths <= cell->depth)
		p->of_depth[p->depths++] = 0;
	if (p->of_depth[cell->depth]) {
		ptc_served_cell_merge(&p->v[p->of_depth[cell->depth] - 1], cell);
		return true;
	}
	if (!ptc_grow(&p->v, &p->cap, p->n + 1, sizeof(*p->v)))
		return false;
	p->v[p->n++] = *cell;
	p->of_depth[cell->depth] = (uint32_t)p->n;
	return true;
}

static int end_level_chunk(struct ptc_level *l, struct ptc_temp_store *file, struct ptc_err *err)
{
	int rc = ptc_buf_failed(&l->raw) ? ptc_fail_mem(err) : 0;

	if (!rc && l->now.cells)
		rc = ptc_packed_chunk_put(file, &l->raw, &l->now.packed, err);
	if (rc || !l->now.cells)
		return rc;
	if (!ptc_grow(&l->chunks, &l->cap, l->n + 1, sizeof(*l->chunks)))
		return ptc_fail_mem(err);
	l->chunks[l->n++] = l->now;
	l->now = (struct ptc_level_chunk){ .cells = 0 };
	l->codec = (struct ptc_served_cell_codec){ .last.number = 0 };
	ptc_buf_reset(&l->raw);
	return 0;
}

static void write_cell(struct ptc_level *l, const struct ptc_served_cell *cell)
{
	struct ptc_level_chunk *c = &l->now;

	if (!c->cells) {
		c->begin = cell->begin;
		c->first = c->last = cell->end;
	}
	c->begin = cell->begin < c->begin ? cell->begin : c->begin;
	c->first = cell->end < c->first ? cell->end : c->first;
	c->last = cell->end > c->last ? cell->end : c->last;
	c->cells++;
	ptc_served_cell_put(&l->codec, cell, &l->raw);
}

static int add_to_level(struct ptc_level_store *s, unsigned int k, struct ptc_temp_store *file,
			const struct ptc_served_cell *cell, size_t chunk, struct ptc_err *err);

/* Writes a cell to level @k, and adds it to the level above. */
static int put_cell(struct ptc_level_store *s, unsigned int k, struct ptc_temp_store *file,
		    const struct ptc_served_cell *cell, size_t chunk, struct ptc_err *err)
{
	write_cell(&s->levels[k], cell);
	return k + 1 < PTC_LEVELS ? add_to_level(s, k + 1, file, cell, chunk, err) : 0;
}

/* Ends the slot of level @k: its short calls become cells. */
static int end_slot(struct ptc_level_store *s, unsigned int k, struct ptc_temp_store *file,
		    size_t chunk, struct ptc_err *err)
{
	struct ptc_level *l = &s->levels[k];
	struct ptc_short_cells *p = &l->pending;
	size_t i;
	int rc = 0;

	for (i = 0; i < p->n && !rc; i++) {
		p->of_depth[p->v[i].depth] = 0;
		rc = put_cell(s, k, file, &p->v[i], chunk, err);
	}
	p->n = 0;
	return !rc && l->raw.len >= chunk ? end_level_chunk(l, file, err) : rc;
}

static int add_to_level(struct ptc_level_store *s, unsigned int k, struct ptc_temp_store *file,
			const struct ptc_served_cell *cell, size_t chunk, struct ptc_err *err)
{
	struct ptc_level *l = &s->levels[k];
	const unsigned int shift = ptc_level_shift(k);
	int rc = 0;

	if (l->slot != cell->end >> shift) {
		rc = end_slot(s, k, file, chunk, err);
		l->slot = cell->end >> shift;
	}
	if (rc)
		return rc;
	if (cell->end - cell->begin < UINT64_C(1) << shift)
		return ptc_short_cells_add(&l->pending, cell) ? 0 : ptc_fail_mem(err);
	/*
	 * No short call of this depth is pending: it would have ended in this slot, in front of the
	 * long call, which begins before the slot.
	 */
	return put_cell(s, k, file, cell, chunk, err);
}

int ptc_level_store_add(struct ptc_level_store *s, struct ptc_temp_store *file,
			const struct ptc_served_cell *cell, size_t chunk, struct ptc_err *err)
{
	return add_to_level(s, 0, file, cell, chunk, err);
}

int ptc_level_store_finish(struct ptc_level_store *s, struct ptc_temp_store *file,
			   struct ptc_err *err)
{
	unsigned int k;
	int rc = 0;

	for (k = 0; k < PTC_LEVELS && !rc; k++) {
		rc = end_slot(s, k, file, SIZE_MAX, err);
		if (!rc)
			rc = end_level_chunk(&s->levels[k], file, err);
	}
	return rc;
}

size_t ptc_level_range(const struct ptc_level *l, uint64_t from, uint64_t to, size_t *ret_end,
		       uint64_t *ret_cells)
{
	size_t begin = 0, end = l->n;

	while (begin < end) {
		const size_t mid = begin + (end - begin) / 2;

		if (l->chunks[mid].last < from)
			begin = mid + 1;
		else
			end = mid;
	}
	*ret_cells = 0;
	for (end = begin; end < l->n && l->chunks[end].first <= to; end++)
		*ret_cells += l->chunks[end].cells;
	*ret_end = end;
	return begin;
}
