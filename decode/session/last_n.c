/* SPDX-License-Identifier: MIT */
#include "decode/session/last_n.h"

#include <inttypes.h>

#include "base/err.h"
#include "base/plural.h"
#include "decode/session/decoder.h"
#include "decode/session/tid_counter.h"

/* Bytes to go back, at least. */
enum { STEP_MIN = 64 << 10 };

struct count {
	struct ptc_tally tally;
	bool failed;
};

static int count_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct count *c = ctx;
	uint64_t *count;
	size_t i;

	for (i = 0; i < n; i++) {
		if (items[i].type != PTC_ITEM_BRANCH && items[i].type != PTC_ITEM_INSN)
			continue;
		count = ptc_tally_of(&c->tally, items[i].tid);
		if (!count) {
			c->failed = true;
			return 1;
		}
		(*count)++;
	}
	return 0;
}

static int count_all(struct ptc_decode *d, struct count *c, struct ptc_err *err)
{
	const struct ptc_sink sink = { count_items, c };
	int r;

	ptc_tally_release(&c->tally);
	r = ptc_decode_pass(d, &sink, err);
	return c->failed ? ptc_fail_mem(err) : r;
}

/*
 * Go further back in the queues that @tid (-1: any) may have run on. Returns false if no queue can.
 */
static bool go_back(struct ptc_decode *d, int32_t tid)
{
	bool any = false;
	size_t i;

	for (i = 0; i < d->nlanes; i++) {
		struct ptc_lane *l = &d->lanes[i];
		const uint64_t left = ptc_range_left(&l->stream, l->start);
		uint64_t by = left < STEP_MIN ? STEP_MIN : left;

		if ((l->tid != -1 && l->tid != tid) || ptc_spot_is_begin(l->start) ||
		    left >= PTC_LAST_MAX)
			continue;
		if (by > PTC_LAST_MAX - left)
			by = PTC_LAST_MAX - left;
		l->next_start = ptc_range_back(&l->stream, l->start, by);
		any = true;
	}
	return any;
}

static bool is_tid_selected(const struct ptc_decode *d, int32_t tid)
{
	return ptc_ids_have(&d->opts.tids, tid);
}

/* May @tid have run on a queue that is not decoded from its beginning? */
static bool may_have_more(const struct ptc_decode *d, int32_t tid)
{
	size_t i;

	for (i = 0; i < d->nlanes; i++)
		if (!ptc_spot_is_begin(d->lanes[i].start) &&
		    (d->lanes[i].tid == -1 || d->lanes[i].tid == tid))
			return true;
	return false;
}

/* Does @tid have too few branches? Returns 1 to look again, further back. */
static int go_back_for_branches(struct ptc_decode *d, struct count *c, int32_t tid,
				size_t *short_of, struct ptc_err *err)
{
	const uint64_t *n = ptc_tally_of(&c->tally, tid);

	if (!n)
		return ptc_fail_mem(err);
	if (*n >= d->opts.last || !is_tid_selected(d, tid) || !may_have_more(d, tid))
		return 0;
	if (go_back(d, tid))
		return 1;
	++*short_of;
	return 0;
}

/* Look at all threads that ran, as far as known. Thread 0 is the idle thread. */
static int look_at_all(struct ptc_decode *d, struct count *c, size_t *short_of, struct ptc_err *err)
{
	int r, again = 0;
	size_t i;

	*short_of = 0;
	for (i = 0; i < d->nlanes; i++)
		d->lanes[i].next_start = d->lanes[i].start;
	for (i = 0; i < d->procs.nthreads; i++) {
		const struct ptc_thread *t = &d->procs.threads[i];

		if (!t->tid || t->cpu == -1)
			continue;
		r = go_back_for_branches(d, c, t->tid, short_of, err);
		if (r < 0)
			return r;
		again |= r;
	}
	for (i = 0; i < d->nlanes; i++) {
		if (d->lanes[i].tid == -1)
			continue;
		r = go_back_for_branches(d, c, d->lanes[i].tid, short_of, err);
		if (r < 0)
			return r;
		again |= r;
	}
	for (i = 0; i < d->nlanes; i++)
		d->lanes[i].start = d->lanes[i].next_start;
	return again;
}

static int set_skips(struct ptc_decode *d, const struct count *c, struct ptc_err *err)
{
	uint64_t *skip;
	size_t i;

	for (i = 0; i < c->tally.n; i++) {
		const struct ptc_tally_entry *e = &c->tally.entries[i];

		skip = ptc_tally_of(&d->pick.skip, e->tid);
		if (!skip)
			return ptc_fail_mem(err);
		*skip = e->n > d->opts.last ? e->n - d->opts.last : 0;
	}
	return 0;
}

int ptc_last_find(struct ptc_decode *d, struct ptc_err *err)
{
	struct count c = { .failed = false };
	size_t i, short_of = 0;
	int r = 0;

	for (i = 0; i < d->nlanes && !r; i++)
		r = ptc_range_at_last(&d->lanes[i].stream, d->opts.last, &d->lanes[i].start, err);
	while (!r) {
		r = count_all(d, &c, err);
		if (!r)
			r = look_at_all(d, &c, &short_of, err);
		if (!r)
			break;
		if (r > 0)
			r = ptc_decode_rewind(d, err);
	}
	if (!r)
		r = set_skips(d, &c, err);
	if (!r)
		r = ptc_decode_rewind(d, err);
	if (!r && short_of)
		ptc_notes_add(&d->notes,
			      "%zu thread%s may have more branches before the last %" PRIu64
			      " MiB of each queue, the limit of --last",
			      short_of, ptc_plural(short_of), PTC_LAST_MAX >> 20);
	ptc_tally_release(&c.tally);
	return r;
}
