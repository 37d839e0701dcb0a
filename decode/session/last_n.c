/* SPDX-License-Identifier: MIT */
#include "decode/session/last_n.h"

#include <inttypes.h>

#include "base/err.h"
#include "base/plural.h"
#include "base/tid_counter.h"
#include "decode/session/decode_input.h"
#include "decode/session/pass.h"

/* Bytes to go back, at least. */
enum { STEP_MIN = 64 << 10 };

struct count {
	struct ptc_tid_counter tally;
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
		count = ptc_tid_counter_of(&c->tally, items[i].tid);
		if (!count) {
			c->failed = true;
			return 1;
		}
		(*count)++;
	}
	return 0;
}

static int count_all(struct ptc_pass *p, struct count *c, struct ptc_err *err)
{
	const struct ptc_sink sink = { count_items, c };
	int r;

	ptc_tid_counter_release(&c->tally);
	r = ptc_pass_run(p, &sink, err);
	return c->failed ? ptc_fail_mem(err) : r;
}

/*
 * Go further back in the queues that @tid (-1: any) may have run on. Returns false if no queue can.
 */
static bool go_back(struct ptc_pass *p, int32_t tid)
{
	bool any = false;
	size_t i;

	for (i = 0; i < p->in->nlanes; i++) {
		struct ptc_queue_decoder *l = &p->in->lanes[i];
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

static bool is_tid_selected(const struct ptc_pass *p, int32_t tid)
{
	return ptc_ids_have(&p->in->opts.tids, tid);
}

/* May @tid have run on a queue that is not decoded from its beginning? */
static bool may_have_more(const struct ptc_pass *p, int32_t tid)
{
	size_t i;

	for (i = 0; i < p->in->nlanes; i++)
		if (!ptc_spot_is_begin(p->in->lanes[i].start) &&
		    (p->in->lanes[i].tid == -1 || p->in->lanes[i].tid == tid))
			return true;
	return false;
}

/* Does @tid have too few branches? Returns 1 to look again, further back. */
static int go_back_for_branches(struct ptc_pass *p, struct count *c, int32_t tid, size_t *short_of,
				struct ptc_err *err)
{
	const uint64_t *n = ptc_tid_counter_of(&c->tally, tid);

	if (!n)
		return ptc_fail_mem(err);
	if (*n >= p->in->opts.last || !is_tid_selected(p, tid) || !may_have_more(p, tid))
		return 0;
	if (go_back(p, tid))
		return 1;
	++*short_of;
	return 0;
}

/* Look at all threads that ran, as far as known. Thread 0 is the idle thread. */
static int look_at_all(struct ptc_pass *p, struct count *c, size_t *short_of, struct ptc_err *err)
{
	int r, again = 0;
	size_t i;

	*short_of = 0;
	for (i = 0; i < p->in->nlanes; i++)
		p->in->lanes[i].next_start = p->in->lanes[i].start;
	for (i = 0; i < p->in->procs.nthreads; i++) {
		const struct ptc_thread *t = &p->in->procs.threads[i];

		if (!t->tid || t->cpu == -1)
			continue;
		r = go_back_for_branches(p, c, t->tid, short_of, err);
		if (r < 0)
			return r;
		again |= r;
	}
	for (i = 0; i < p->in->nlanes; i++) {
		if (p->in->lanes[i].tid == -1)
			continue;
		r = go_back_for_branches(p, c, p->in->lanes[i].tid, short_of, err);
		if (r < 0)
			return r;
		again |= r;
	}
	for (i = 0; i < p->in->nlanes; i++)
		p->in->lanes[i].start = p->in->lanes[i].next_start;
	return again;
}

static int set_skips(struct ptc_tid_counter *skip, uint64_t last, const struct count *c,
		     struct ptc_err *err)
{
	uint64_t *n;
	size_t i;

	for (i = 0; i < c->tally.n; i++) {
		const struct ptc_tid_counter_entry *e = &c->tally.entries[i];

		n = ptc_tid_counter_of(skip, e->tid);
		if (!n)
			return ptc_fail_mem(err);
		*n = e->n > last ? e->n - last : 0;
	}
	return 0;
}

int ptc_last_find(struct ptc_pass *p, struct ptc_tid_counter *skip, struct ptc_err *err)
{
	struct count c = { .failed = false };
	size_t i, short_of = 0;
	int r = 0;

	for (i = 0; i < p->in->nlanes && !r; i++)
		r = ptc_range_at_last(&p->in->lanes[i].stream, p->in->opts.last,
				      &p->in->lanes[i].start, err);
	while (!r) {
		r = count_all(p, &c, err);
		if (!r)
			r = look_at_all(p, &c, &short_of, err);
		if (!r)
			break;
		if (r > 0)
			r = ptc_pass_rewind(p, err);
	}
	if (!r)
		r = set_skips(skip, p->in->opts.last, &c, err);
	if (!r)
		r = ptc_pass_rewind(p, err);
	if (!r && short_of)
		ptc_notes_add(&p->in->notes,
			      "%zu thread%s may have more branches before the last %" PRIu64
			      " MiB of each queue, the limit of --last",
			      short_of, ptc_plural(short_of), PTC_LAST_MAX >> 20);
	ptc_tid_counter_release(&c.tally);
	return r;
}
