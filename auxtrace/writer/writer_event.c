/* SPDX-License-Identifier: MIT */
/* The events of a new recording: attrs, names and ids. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/writer/writer_private.h"
#include "base/err.h"
#include "base/vec.h"

/* Append @e, and take ownership of its members. */
static int add_event(struct ptc_writer *w, struct ptc_writer_event *e, const uint64_t *ids,
		     size_t nids, struct ptc_err *err)
{
	void *items = w->events;

	assert(!w->data_off);
	e->ids = calloc(nids ? nids : 1, sizeof(*ids));
	if ((!e->name && !e->stored) || !e->ids ||
	    !ptc_vec_reserve(&items, &w->events_cap, w->nevents + 1, sizeof(*e))) {
		free(e->stored);
		free(e->name);
		free(e->ids);
		return ptc_fail_mem(err);
	}
	w->events = items;
	if (nids)
		memcpy(e->ids, ids, nids * sizeof(*ids));
	e->nids = e->front_nids = nids;
	w->events[w->nevents++] = *e;
	return 0;
}

static int check_event(const struct ptc_writer *w, size_t nids, struct ptc_err *err)
{
	if (w->nevents == PTC_LIMIT_ATTRS || nids > PTC_LIMIT_IDS)
		return ptc_fail(err, PTC_E_LIMIT,
				"more than %u events, or more than %u ids of an event",
				PTC_LIMIT_ATTRS, PTC_LIMIT_IDS);
	return 0;
}

int ptc_writer_attr(struct ptc_writer *w, const struct perf_event_attr *attr, const char *name,
		    const uint64_t *ids, size_t nids, struct ptc_err *err)
{
	const size_t have = attr->size ? attr->size : PERF_ATTR_SIZE_VER7;
	struct ptc_writer_event e = { .nids = 0 };
	int rc = check_event(w, nids, err);

	if (rc)
		return rc;
	memcpy(&e.attr, attr, have < sizeof(e.attr) ? have : sizeof(e.attr));
	e.name = strdup(name);
	return add_event(w, &e, ids, nids, err);
}

int ptc_writer_attr_stored(struct ptc_writer *w, struct ptc_cur attr, const uint64_t *ids,
			   size_t nids, struct ptc_err *err)
{
	struct ptc_writer_event e = { .stored_len = ptc_cur_left(&attr) };
	int rc = check_event(w, nids, err);

	assert(e.stored_len >= PERF_ATTR_SIZE_VER0);
	if (rc)
		return rc;
	if (e.stored_len > PTC_LIMIT_ATTR)
		return ptc_fail(err, PTC_E_LIMIT, "an event's attributes have %zu bytes, not %u",
				e.stored_len, PTC_LIMIT_ATTR);
	e.stored = malloc(e.stored_len);
	if (e.stored)
		memcpy(e.stored, attr.pos, e.stored_len);
	return add_event(w, &e, ids, nids, err);
}

int ptc_writer_late_ids(struct ptc_writer *w, size_t event, const uint64_t *ids, size_t nids,
			struct ptc_err *err)
{
	struct ptc_writer_event *e = &w->events[event];
	uint64_t *all;

	assert(event < w->nevents && nids >= e->nids);
	if (w->opts.pipe)
		return ptc_fail(err, PTC_E_UNSUPPORTED, "pipe mode cannot add ids to an event");
	if (nids > PTC_LIMIT_IDS)
		return check_event(w, nids, err);
	all = reallocarray(e->ids, nids + 1, sizeof(*all));
	if (!all)
		return ptc_fail_mem(err);
	memcpy(all, ids, nids * sizeof(*all));
	e->ids = all;
	e->nids = nids;
	return 0;
}
