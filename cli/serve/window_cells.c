/* SPDX-License-Identifier: MIT */
#include "cli/serve/window_cells.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"

/* At most so many single calls, and cells of all threads, are read for a window. */
enum { CALLS_MAX = 200 * 1000, CELLS_MAX = 1000 * 1000, CELLS_OF_THREAD = 20 * 1000 };

void ptc_window_cells_release(struct ptc_window_cells *w)
{
	free(w->v);
	free(w->sorted);
	free(w->ends);
	free(w->calls.v);
	ptc_buf_release(&w->bytes);
	*w = (struct ptc_window_cells){ .n = 0 };
}

static bool append_cell(struct ptc_window_cells *w, const struct ptc_served_cell *cell)
{
	if (!ptc_grow(&w->v, &w->cap, w->n + 1, sizeof(*w->v)))
		return false;
	w->v[w->n++] = *cell;
	return true;
}

/* --- single calls --- */

/* Appends the calls of w->calls that overlap [@from, @to] and end at @above or behind. */
static int take_calls(struct ptc_window_cells *w, int axis, uint64_t from, uint64_t to,
		      uint64_t above, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < w->calls.n; i++) {
		const struct ptc_served_cell cell = ptc_served_cell_of(&w->calls.v[i], axis);

		if (cell.end < from || cell.begin > to || cell.end < above)
			continue;
		if (!append_cell(w, &cell))
			return ptc_fail_mem(err);
	}
	w->calls.n = 0;
	return 0;
}

/* Reads the calls that are open at the begin of chunk @i, and the calls that begin up to chunk
 * @last.
 */
static int take_chunks(struct ptc_window_cells *w, struct ptc_served_recording *s, uint32_t thread,
		       size_t i, size_t last, const struct ptc_window_ask *ask, uint64_t above,
		       struct ptc_err *err)
{
	int rc;

	w->calls.n = 0;
	rc = ptc_call_store_open(&s->calls, thread, i, &w->calls, err);
	for (; i <= last && !rc; i++) {
		rc = ptc_call_store_entries(&s->calls, thread, i, &w->calls, err);
		if (!rc)
			rc = take_calls(w, ask->axis, ask->from, ask->to, above, err);
	}
	return rc;
}

/* Returns the last chunk with a call in the window. @t has chunks. */
static size_t last_chunk(const struct ptc_stored_thread *t, const struct ptc_window_ask *ask)
{
	/* Behind the first chunk that ends at this place, others may begin there. */
	const size_t i = ptc_call_store_at(t, ask->axis, ask->to + 1);

	return i < t->n ? i : t->n - 1;
}

static uint64_t count_ended(const struct ptc_stored_thread *t, size_t i, size_t last)
{
	uint64_t n = 0;

	for (; i <= last; i++)
		n += t->chunks[i].entries;
	return n;
}

/* --- levels --- */

static int take_level_chunk(struct ptc_window_cells *w, struct ptc_served_recording *s,
			    const struct ptc_level_chunk *c, const struct ptc_window_ask *ask,
			    struct ptc_err *err)
{
	struct ptc_served_cell_codec codec = { .last.number = 0 };
	struct ptc_numbers from;
	uint32_t i;
	int rc = ptc_packed_chunk_get(&s->file, &c->packed, &w->bytes, err);

	from = (struct ptc_numbers){ w->bytes.bytes, w->bytes.bytes + w->bytes.len, false };
	for (i = 0; i < c->cells && !rc; i++) {
		struct ptc_served_cell cell;

		if (!ptc_served_cell_get(&codec, &from, &cell))
			rc = ptc_fail(err, PTC_E_FORMAT, "the temporary file is damaged");
		else if (cell.end >= ask->from && cell.end <= ask->to && !append_cell(w, &cell))
			rc = ptc_fail_mem(err);
	}
	return rc;
}

/* Returns the finest level whose slot is at most @pixel, and that has at most @most cells. */
static unsigned int fitting_level(const struct ptc_level_store *levels,
				  const struct ptc_window_ask *ask, uint64_t pixel, uint64_t most)
{
	unsigned int k = 0;
	uint64_t cells;
	size_t end;

	while (k + 1 < PTC_LEVELS && UINT64_C(1) << ptc_level_shift(k + 1) <= pixel)
		k++;
	for (; k + 1 < PTC_LEVELS; k++) {
		(void)ptc_level_range(&levels->levels[k], ask->from, ask->to, &end, &cells);
		if (cells <= most)
			break;
	}
	return k;
}

/* Takes the cells that end in the window, and then the calls that are open at its end. */
static int take_level(struct ptc_window_cells *w, struct ptc_served_recording *s, uint32_t thread,
		      const struct ptc_window_ask *ask, uint64_t pixel, struct ptc_err *err)
{
	const struct ptc_level_store *levels = &s->levels[thread].axes[ask->axis];
	const struct ptc_stored_thread *t = &s->calls.threads[thread];
	const uint64_t share = CELLS_MAX / (ask->last - ask->first + 1);
	const unsigned int k = fitting_level(levels, ask, pixel,
					     share < CELLS_OF_THREAD ? CELLS_OF_THREAD : share);
	const struct ptc_level *l = &levels->levels[k];
	uint64_t cells;
	size_t end, i = ptc_level_range(l, ask->from, ask->to, &end, &cells);
	int rc = 0;

	for (; i < end && !rc; i++)
		rc = take_level_chunk(w, s, &l->chunks[i], ask, err);
	i = ptc_call_store_at(t, ask->axis, ask->to);
	if (!rc && i < t->n && ask->to < UINT64_MAX)
		rc = take_chunks(w, s, thread, i, i, ask, ask->to + 1, err);
	return rc;
}

/* --- rows --- */

/* Sorts the cells by depth. Their order in a row stays. */
static bool sort_rows(struct ptc_window_cells *w)
{
	size_t i, at = 0;

	w->rows = 0;
	for (i = 0; i < w->n; i++)
		if (w->v[i].depth >= w->rows)
			w->rows = (size_t)w->v[i].depth + 1;
	if (!ptc_grow(&w->ends, &w->ends_cap, w->rows + 1, sizeof(*w->ends)) ||
	    !ptc_grow(&w->sorted, &w->sorted_cap, w->n + 1, sizeof(*w->sorted)))
		return false;
	for (i = 0; i < w->rows; i++)
		w->ends[i] = 0;
	for (i = 0; i < w->n; i++)
		w->ends[w->v[i].depth]++;
	for (i = 0; i < w->rows; i++) {
		const size_t n = w->ends[i];

		w->ends[i] = at; /* its begin, which becomes its end */
		at += n;
	}
	for (i = 0; i < w->n; i++)
		w->sorted[w->ends[w->v[i].depth]++] = w->v[i];
	return true;
}

/* Merges neighbours that are shorter than @pixel and end in the same pixel. */
static void merge_rows(struct ptc_window_cells *w, uint64_t pixel)
{
	size_t row, i = 0, to = 0;

	for (row = 0; row < w->rows; row++) {
		const size_t begin = to;

		for (; i < w->ends[row]; i++) {
			const struct ptc_served_cell *cell = &w->sorted[i];
			struct ptc_served_cell *last = to > begin ? &w->sorted[to - 1] : NULL;

			if (last && cell->end - cell->begin < pixel &&
			    last->end - last->begin < pixel &&
			    last->end / pixel == cell->end / pixel)
				ptc_served_cell_merge(last, cell);
			else
				w->sorted[to++] = *cell;
		}
		w->ends[row] = to;
	}
}

int ptc_window_cells_find(struct ptc_window_cells *w, struct ptc_served_recording *s,
			  uint32_t thread, const struct ptc_window_ask *ask, struct ptc_err *err)
{
	const struct ptc_stored_thread *t = &s->calls.threads[thread];
	const uint64_t pixel = (ask->to - ask->from) / ask->pixels;
	const size_t i = ptc_call_store_at(t, ask->axis, ask->from);
	int rc = 0;

	w->n = w->rows = 0;
	if (i == t->n)
		return 0;
	if (pixel < UINT64_C(1) << ptc_level_shift(0) &&
	    count_ended(t, i, last_chunk(t, ask)) <= CALLS_MAX)
		rc = take_chunks(w, s, thread, i, last_chunk(t, ask), ask, 0, err);
	else
		rc = take_level(w, s, thread, ask, pixel, err);
	if (!rc && !sort_rows(w))
		rc = ptc_fail_mem(err);
	if (!rc && pixel > 1)
		merge_rows(w, pixel);
	return rc;
}
