/* SPDX-License-Identifier: MIT */
#include "decode/session/merge.h"

#include "base/err.h"
#include "decode/session/decode_input.h"

static uint64_t order_time(uint64_t time)
{
	return time == PTC_NO_TIME ? 0 : time;
}

/* A moment in the order of all items: by time, then by queue. */
struct moment {
	uint64_t time;
	const struct ptc_queue_decoder *lane; /* queues are in one array, by idx */
};

static const struct moment END_OF_TIME = { UINT64_MAX,
					   (const struct ptc_queue_decoder *)UINTPTR_MAX };

static bool is_before(struct moment a, struct moment b)
{
	return a.time < b.time || (a.time == b.time && a.lane < b.lane);
}

static int give_items(const struct ptc_sink *sink, const struct ptc_item *items, size_t n,
		      struct ptc_err *err)
{
	if (n && sink->on_items(sink->ctx, items, n))
		return ptc_fail(err, PTC_E_STOPPED, "decoding was stopped");
	return 0;
}

static bool is_gap_selected(const struct ptc_decode_opts *o, const struct ptc_item *it)
{
	return ptc_ids_have(&o->tids, it->tid) && ptc_ids_have(&o->cpus, it->cpu);
}

/* Report the breaks in front of @time. */
static int give_breaks(struct ptc_merge *m, const struct ptc_sink *sink, uint64_t time,
		       struct ptc_err *err)
{
	struct ptc_item gap;
	int r = 0;

	while (!r && ptc_discontinuity_next(&m->in->joint, time, &gap)) {
		if (gap.time < m->from_ns || !is_gap_selected(&m->in->opts, &gap))
			continue;
		m->stats->gaps[PTC_GAP_SNAPSHOT]++;
		r = give_items(sink, &gap, 1, err);
	}
	return r;
}

static int give(struct ptc_merge *m, const struct ptc_sink *sink, struct ptc_out *o, size_t n,
		struct ptc_err *err)
{
	const struct ptc_item *items = ptc_out_take(o, n);
	size_t k = n;
	int r = 0;

	for (; !r && n; items += k, n -= k) {
		k = n;
		if (!ptc_discontinuity_is_over(&m->in->joint, order_time(items->time))) {
			r = give_breaks(m, sink, order_time(items->time), err);
			if (!r && !ptc_discontinuity_see(&m->in->joint, items, n, &k))
				r = ptc_fail_mem(err);
		}
		if (!r)
			r = give_items(sink, items, k, err);
	}
	return r;
}

int ptc_merge_begin(struct ptc_merge *m, struct ptc_decode_input *in,
		    struct ptc_decode_stats *stats, struct ptc_err *err)
{
	ptc_merge_release(m);
	m->in = in;
	m->stats = stats;
	if (!ptc_least_init(&m->fronts, m->in->nlanes) || !ptc_least_init(&m->lows, m->in->nlanes))
		return ptc_fail_mem(err);
	return 0;
}

void ptc_merge_release(struct ptc_merge *m)
{
	ptc_least_release(&m->fronts);
	ptc_least_release(&m->lows);
}

static void set_front(struct ptc_merge *m, const struct ptc_queue_decoder *l)
{
	const struct ptc_out *o = ptc_replay_out(l->replay);
	const size_t i = (size_t)(l - m->in->lanes);

	if (o->head < o->n)
		ptc_least_set(&m->fronts, i, order_time(o->items[o->head].time));
	else
		ptc_least_clear(&m->fronts, i);
}

void ptc_merge_changed(struct ptc_merge *m, const struct ptc_queue_decoder *l)
{
	const size_t i = (size_t)(l - m->in->lanes);

	set_front(m, l);
	if (l->live)
		ptc_least_set(&m->lows, i, ptc_replay_low(l->replay));
	else
		ptc_least_clear(&m->lows, i);
}

/*
 * Returns the queue with the earliest item, or NULL. *@ret_next: where the items of the next queue
 * begin.
 */
static const struct ptc_queue_decoder *earliest(const struct ptc_merge *m, struct moment *ret_next)
{
	uint64_t time;
	const ptrdiff_t first = ptc_least_first(&m->fronts, &time);
	const ptrdiff_t second = ptc_least_second(&m->fronts, &time);

	*ret_next = second < 0 ? END_OF_TIME : (struct moment){ time, &m->in->lanes[second] };
	return first < 0 ? NULL : &m->in->lanes[first];
}

/* Returns the index of the first item of @l that is not before @end. */
static size_t first_at(const struct ptc_queue_decoder *l, struct moment end)
{
	const struct ptc_out *o = ptc_replay_out(l->replay);
	const bool ties = l < end.lane;
	const uint64_t last = end.time - !ties; /* the latest time before end */
	const struct ptc_item *it = o->items + o->head, *stop = o->items + o->n;

	if (!end.time && !ties)
		return o->head;
	if (o->newest <= last)
		return o->n;
	while (it < stop && (it->time <= last || it->time == PTC_NO_TIME))
		it++;
	return (size_t)(it - o->items);
}

/* Hand over all items before @upto, merged. */
static int flush(struct ptc_merge *m, const struct ptc_sink *sink, struct moment upto,
		 struct ptc_err *err)
{
	const struct ptc_queue_decoder *l;
	struct moment next;
	int r;

	while ((l = earliest(m, &next)) != NULL) {
		struct ptc_out *o = ptc_replay_out(l->replay);
		size_t n;

		if (is_before(upto, next))
			next = upto;
		n = first_at(l, next);
		if (n == o->head)
			return 0;
		r = give(m, sink, o, n - o->head, err);
		set_front(m, l);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Returns the moment that no later item is before. */
static struct moment low_of_all(const struct ptc_merge *m)
{
	uint64_t time;
	const ptrdiff_t first = ptc_least_first(&m->lows, &time);

	/*
	 * Items of this queue with its low time are handed over: its later items come behind them.
	 */
	return first < 0 ? END_OF_TIME : (struct moment){ time, &m->in->lanes[first] + 1 };
}

/* Same, and no later sideband record that brings a thread to a CPU is before it. */
static struct moment settled(const struct ptc_merge *m)
{
	const struct ptc_event *ev;
	struct moment low = low_of_all(m), until = END_OF_TIME;

	if (!m->in->joint.nkept ||
	    !(ev = ptc_sideband_peek(&m->in->sideband, m->in->joint.until_ns)))
		return low;
	until.time = ev->time;
	return is_before(until, low) ? until : low;
}

int ptc_merge_settled(struct ptc_merge *m, const struct ptc_sink *sink, struct ptc_err *err)
{
	return flush(m, sink, settled(m), err);
}

int ptc_merge_rest(struct ptc_merge *m, const struct ptc_sink *sink, struct ptc_err *err)
{
	const int r = flush(m, sink, END_OF_TIME, err);

	return r ? r : give_breaks(m, sink, UINT64_MAX, err);
}
