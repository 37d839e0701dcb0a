/* SPDX-License-Identifier: MIT */
#include "cli/serve/served_recording.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/err.h"
#include "base/grow.h"

/* Bytes of all chunks that are being filled, and limits for one of them. */
enum { FILLED_MAX = 64 << 20, CHUNK_MIN = 2 << 10, CHUNK_MAX = 32 << 10 };

/* Returns the bytes at which a chunk ends. Many threads have small chunks. */
static size_t chunk_size(const struct ptc_served_recording *s)
{
	const size_t open = (s->nlevels + 1) * (2 * PTC_LEVELS + 1), size = FILLED_MAX / open;

	return size < CHUNK_MIN ? CHUNK_MIN : size > CHUNK_MAX ? CHUNK_MAX : size;
}

/* Returns the levels of a thread by axis; NULL: out of memory. */
static struct ptc_level_store *levels_of(struct ptc_served_recording *s, uint32_t thread)
{
	struct ptc_served_levels *l;

	if (thread >= s->nlevels &&
	    !ptc_grow(&s->levels, &s->levels_cap, thread + 1, sizeof(*s->levels)))
		return NULL;
	while (s->nlevels <= thread)
		s->levels[s->nlevels++] = (struct ptc_served_levels){ NULL };
	l = &s->levels[thread];
	if (!l->axes && ptc_budget_allows(2 * sizeof(*l->axes)))
		l->axes = calloc(2, sizeof(*l->axes));
	return l->axes;
}

static int add_to_levels(struct ptc_served_recording *s, uint32_t thread,
			 const struct ptc_served_call *call)
{
	struct ptc_level_store *axes = levels_of(s, thread);
	int axis, rc = 0;

	if (!axes)
		return ptc_fail_mem(s->err);
	for (axis = 0; axis <= s->times && !rc; axis++) {
		const struct ptc_served_cell cell = ptc_served_cell_of(call, axis);

		rc = ptc_level_store_add(&axes[axis], &s->file, &cell, chunk_size(s), s->err);
	}
	return rc;
}

static int take_event(void *ctx, uint32_t thread, uint32_t op, uint32_t site,
		      struct ptc_view_moment at)
{
	struct ptc_served_recording *s = ctx;
	struct ptc_served_call call;
	int rc;

	if (op >= 16)
		return ptc_call_store_enter(&s->calls, thread, (op >> 4) - 1, op & 15, site, at,
					    s->err);
	rc = ptc_call_store_leave(&s->calls, thread, (uint8_t)op, at, &call, s->err);
	return rc ? rc : add_to_levels(s, thread, &call);
}

static int take_branch(void *ctx, uint32_t thread, uint32_t edge, struct ptc_view_moment at)
{
	struct ptc_served_recording *s = ctx;

	return ptc_branch_store_add(&s->branches, thread, &(struct ptc_served_branch){ edge, at },
				    chunk_size(s), s->err);
}

int ptc_served_recording_init(struct ptc_served_recording *s, bool times, uint64_t limit,
			      struct ptc_err *err)
{
	*s = (struct ptc_served_recording){ .times = times,
					    .err = err,
					    .branches.file = &s->file,
					    .taker = { take_event, take_branch, s } };
	ptc_call_store_init(&s->calls, &s->file);
	return ptc_temp_store_open(&s->file, limit, err);
}

void ptc_served_recording_release(struct ptc_served_recording *s)
{
	size_t i;
	int axis;

	for (i = 0; i < s->nlevels; i++) {
		for (axis = 0; s->levels[i].axes && axis < 2; axis++)
			ptc_level_store_release(&s->levels[i].axes[axis]);
		free(s->levels[i].axes);
	}
	free(s->levels);
	ptc_call_store_release(&s->calls);
	ptc_branch_store_release(&s->branches);
	ptc_temp_store_release(&s->file);
	s->levels = NULL;
	s->nlevels = s->levels_cap = 0;
}

int ptc_served_recording_finish(struct ptc_served_recording *s, struct ptc_err *err)
{
	size_t i;
	int axis, rc = ptc_call_store_finish(&s->calls, err);

	for (i = 0; i < s->nlevels; i++)
		for (axis = 0; s->levels[i].axes && axis <= s->times && !rc; axis++)
			rc = ptc_level_store_finish(&s->levels[i].axes[axis], &s->file, err);
	return rc ? rc : ptc_branch_store_finish(&s->branches, err);
}
