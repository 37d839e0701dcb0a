/* SPDX-License-Identifier: MIT */
#include "cli/view/call_collector.h"

#include <stdlib.h>

#include "base/grow.h"
#include "cli/view/open_calls.h"

/* An open call. */
struct ptc_view_frame {
	uint32_t function;
	uint32_t last_called; /* number + 1 of the last function that it called; 0: none */
	bool outermost;	      /* no call of the same function was open */
	struct ptc_view_moment since;
	struct ptc_view_moment inside; /* sum of the calls of this call */
};

/* The newest gap of a queue. */
struct ptc_queue_gap {
	uint32_t queue;
	uint8_t cause;
	uint64_t bytes;
};

/* Returns the distance from @b to the later place @a. 0: @a is not later. */
static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct ptc_view_moment span(struct ptc_view_moment from, struct ptc_view_moment to)
{
	return (struct ptc_view_moment){ later(to.insns, from.insns),
					 later(to.time_ns, from.time_ns) };
}

static void add_span(struct ptc_view_moment *to, struct ptc_view_moment from)
{
	to->insns += from.insns;
	to->time_ns += from.time_ns;
}

/* Sets the source line of function @number, which @call enters for the first time. */
static bool describe_function(struct ptc_call_collector *c, uint32_t number,
			      const struct ptc_call *call)
{
	struct ptc_view_function *f = &c->sums[number];
	struct ptc_decode *d = c->stream.opts.d;
	uint64_t off = 0;

	if (call->how == PTC_CALL_BY_INLINING || !ptc_decode_symbol(d, call->item, call->ip, &off))
		return true;
	f->source = ptc_names_get(&c->stream.names,
				  ptc_decode_srcline(d, call->item, call->ip - off, &f->line));
	return f->source != UINT32_MAX &&
	       ptc_view_sources_note(&c->sources, d, &c->stream.names, call->item, call->ip - off,
				     f->source);
}

/* Returns the sums of function @number. NULL: out of memory, or too many functions. */
static struct ptc_view_function *function_sums(struct ptc_call_collector *c, uint32_t number,
					       const struct ptc_call *call)
{
	if (number < c->nsums)
		return &c->sums[number];
	c->too_many |= number >= c->limits.functions;
	if (c->too_many || !ptc_grow(&c->sums, &c->sums_cap, number + 1, sizeof(*c->sums)))
		return NULL;
	while (c->nsums <= number)
		c->sums[c->nsums++] = (struct ptc_view_function){ .calls = 0 };
	return describe_function(c, number, call) ? &c->sums[number] : NULL;
}

static struct ptc_view_thread *viewed_thread(struct ptc_call_collector *c, uint32_t number)
{
	if (number >= c->nthreads &&
	    !ptc_grow(&c->threads, &c->threads_cap, number + 1, sizeof(*c->threads)))
		return NULL;
	while (c->nthreads <= number)
		c->threads[c->nthreads++] = (struct ptc_view_thread){ .begun = false };
	return &c->threads[number];
}

/* Moves the clock to @time, the time of an item, unless that is earlier. */
static void add_time_of(struct ptc_call_collector *c, uint64_t time)
{
	if (!c->times || time == PTC_NO_TIME)
		return;
	if (c->first_ns == PTC_NO_TIME)
		c->first_ns = time;
	if (later(time, c->first_ns) > c->now_ns)
		c->now_ns = time - c->first_ns;
}

/* Returns the place of an event. Times never go back, and are relative to the first one. */
static struct ptc_view_moment moment_of_event(struct ptc_call_collector *c,
					      const struct ptc_view_thread *t,
					      const struct ptc_call *call)
{
	add_time_of(c, call->item->time);
	return (struct ptc_view_moment){ t->begun && call->insns < t->last.insns ? t->last.insns :
										   call->insns,
					 c->now_ns };
}

/* Moves thread @t to @at. Returns its place before. */
static struct ptc_view_moment move_thread(struct ptc_view_thread *t, struct ptc_view_moment at)
{
	const struct ptc_view_moment before = t->last;

	if (!t->begun)
		t->first = at;
	t->begun = true;
	t->last = at;
	return before;
}

static int hand_over_chunk(struct ptc_call_collector *c)
{
	ptc_buf_reset(&c->chunk);
	return ptc_event_encoder_take(&c->events, &c->chunk) ? c->on_chunk(c->ctx, &c->chunk) :
							       PTC_E_NO_MEMORY;
}

/* Encodes an event of thread @number at @at, and moves the thread to it. */
static int encode_event(struct ptc_call_collector *c, uint32_t number, uint32_t op, uint32_t site,
			struct ptc_view_moment at)
{
	struct ptc_view_thread *t = &c->threads[number];
	const struct ptc_view_moment before = move_thread(t, at);
	const struct ptc_view_taker *taker = c->taker;
	const struct ptc_view_frame *in = t->depth ? &t->stack[t->depth - 1] : NULL;
	const struct ptc_coded_event event = { .thread = number,
					       .op = op,
					       .site = site,
					       .in = in ? in->function + 1 : 0,
					       .last = in ? in->last_called : t->last_called,
					       .insns = at.insns - before.insns,
					       .time_ns = at.time_ns - c->coded_ns };

	if (taker)
		return taker->on_event(taker->ctx, number, op, site, at);
	c->coded_ns = at.time_ns;
	ptc_event_encoder_add(&c->events, &event);
	return c->events.n < PTC_CHUNK_EVENTS ? 0 : hand_over_chunk(c);
}

static bool count_row(struct ptc_view_thread *t)
{
	if (!ptc_grow(&t->rows, &t->rows_cap, t->depth + 1, sizeof(*t->rows)))
		return false;
	if (t->nrows == t->depth)
		t->rows[t->nrows++] = 0;
	t->rows[t->depth]++;
	return true;
}

static bool has_much_text(const struct ptc_call_collector *c)
{
	return c->stream.names.bytes > c->limits.text;
}

/* Counts a call or a gap. Returns false if there are too many. */
static bool count_event(struct ptc_call_collector *c)
{
	c->too_many |= c->ncalls + c->ngaps >= c->limits.calls || has_much_text(c);
	return !c->too_many;
}

/* --- gaps --- */

static int append_gap(struct ptc_call_collector *c, const struct ptc_view_gap *gap)
{
	if (!count_event(c) || !ptc_grow(&c->gaps, &c->gaps_cap, c->ngaps + 1, sizeof(*c->gaps)))
		return PTC_E_NO_MEMORY;
	c->gaps[c->ngaps++] = *gap;
	return 0;
}

static int add_gap(struct ptc_call_collector *c, uint32_t number, const struct ptc_item *it)
{
	const struct ptc_view_thread *t = number < c->nthreads ? &c->threads[number] : NULL;
	const bool timed = c->times && it->time != PTC_NO_TIME && c->first_ns != PTC_NO_TIME;

	return append_gap(c, &(struct ptc_view_gap){
				     .thread = t ? number : PTC_NO_NUMBER,
				     .at = { t ? t->last.insns : 0,
					     timed ? later(it->time, c->first_ns) : c->now_ns },
				     .cause = it->cause,
				     .bytes = it->to,
			     });
}

/* Returns the newest gap of @queue; NULL: none. */
static struct ptc_queue_gap *find_queue_gap(const struct ptc_call_collector *c, uint32_t queue)
{
	size_t i;

	for (i = 0; i < c->nqueue_gaps; i++)
		if (c->queue_gaps[i].queue == queue)
			return &c->queue_gaps[i];
	return NULL;
}

/* Remembers a gap of a queue, for threads that begin behind the gap. */
static int note_queue_gap(struct ptc_call_collector *c, const struct ptc_item *it)
{
	const struct ptc_queue_gap gap = { it->queue, it->cause, it->to };
	struct ptc_queue_gap *there = find_queue_gap(c, it->queue);

	if (!there) {
		if (!ptc_grow(&c->queue_gaps, &c->queue_gaps_cap, c->nqueue_gaps + 1,
			      sizeof(*c->queue_gaps)))
			return PTC_E_NO_MEMORY;
		there = &c->queue_gaps[c->nqueue_gaps++];
	}
	*there = gap;
	return 0;
}

/* A gap without a thread is one of each thread whose calls ended there. */
static int collect_gap(struct ptc_call_collector *c, const struct ptc_call_event *event)
{
	const struct ptc_item *it = event->call->item;
	const bool of_queue = event->thread == PTC_NO_NUMBER;
	int rc = of_queue ? note_queue_gap(c, it) : 0;
	size_t i;

	c->nlost++;
	if (!of_queue)
		rc = add_gap(c, event->thread, it);
	for (i = 0; of_queue && i < c->nclosed && !rc; i++)
		rc = add_gap(c, c->closed[i], it);
	c->nclosed = 0;
	return rc;
}

/* Adds the gap in front of thread @number, which begins at @at. */
static int add_gap_before(struct ptc_call_collector *c, uint32_t number, const struct ptc_item *it,
			  struct ptc_view_moment at)
{
	const struct ptc_queue_gap *gap = find_queue_gap(c, it->queue);

	return gap ? append_gap(c, &(struct ptc_view_gap){ number, at, gap->cause, gap->bytes }) :
		     0;
}

/* --- calls --- */

static int collect_entry(struct ptc_call_collector *c, const struct ptc_call_event *event)
{
	const struct ptc_call *call = event->call;
	struct ptc_view_function *f = count_event(c) ? function_sums(c, event->function, call) :
						       NULL;
	struct ptc_view_thread *t = f ? viewed_thread(c, event->thread) : NULL;
	const uint32_t site = t ? ptc_call_sites_number(&c->sites, call->item, call->from) :
				  UINT32_MAX;
	struct ptc_view_moment at;
	bool outermost;
	int rc;

	if (site == UINT32_MAX || !count_row(t) ||
	    !ptc_grow(&t->stack, &t->stack_cap, t->depth + 1, sizeof(*t->stack)) ||
	    !ptc_open_calls_add(&c->open, event->thread, event->function, &outermost))
		return PTC_E_NO_MEMORY;
	c->ncalls++;
	c->nclosed = 0;
	f->calls++;
	at = moment_of_event(c, t, call);
	rc = t->begun ? 0 : add_gap_before(c, event->thread, call->item, at);
	if (rc)
		return rc;
	rc = encode_event(c, event->thread, (event->function + 1) << 4 | call->how, site, at);
	t->stack[t->depth++] = (struct ptc_view_frame){ .function = event->function,
							.outermost = outermost,
							.since = at };
	return rc;
}

/* Sums a call that ended. @whole: its length. */
static void sum_call(struct ptc_call_collector *c, const struct ptc_call_event *event,
		     struct ptc_view_moment whole)
{
	struct ptc_view_thread *t = &c->threads[event->thread];
	struct ptc_view_function *f = &c->sums[event->function];
	const struct ptc_view_frame *top = &t->stack[--t->depth];

	ptc_open_calls_remove(&c->open, event->thread, event->function);
	add_span(&f->self, span(top->inside, whole));
	if (top->outermost)
		add_span(&f->total, whole);
	if (!t->depth) {
		t->last_called = event->function + 1;
		return;
	}
	add_span(&t->stack[t->depth - 1].inside, whole);
	t->stack[t->depth - 1].last_called = event->function + 1;
}

/* Remembers that the calls of thread @number ended at a gap. */
static bool note_closed(struct ptc_call_collector *c, uint32_t number)
{
	if (!ptc_grow(&c->closed, &c->closed_cap, c->nclosed + 1, sizeof(*c->closed)))
		return false;
	c->closed[c->nclosed++] = number;
	return true;
}

static int collect_end(struct ptc_call_collector *c, const struct ptc_call_event *event)
{
	struct ptc_view_thread *t = &c->threads[event->thread];
	const struct ptc_view_moment at = moment_of_event(c, t, event->call);
	const struct ptc_view_moment since = t->stack[t->depth - 1].since;
	const int rc = encode_event(c, event->thread, event->call->how, 0, at);

	sum_call(c, event, span(since, at));
	if (!t->depth && event->call->how == PTC_CALL_BY_GAP && !note_closed(c, event->thread))
		return PTC_E_NO_MEMORY;
	return rc;
}

/* --- the decode --- */

static int collect_event(void *ctx, const struct ptc_call_event *event)
{
	switch (event->call->type) {
	case PTC_CALL_ENTER:
		return collect_entry(ctx, event);
	case PTC_CALL_LEAVE:
		return collect_end(ctx, event);
	default:
		return collect_gap(ctx, event);
	}
}

int ptc_call_collector_init(struct ptc_call_collector *c,
			    const struct ptc_call_collector_opts *opts)
{
	const struct ptc_call_stream_opts stream = {
		.d = opts->d, .inlines = opts->inlines, .on_event = collect_event, .ctx = c
	};

	*c = (struct ptc_call_collector){ .limits = opts->limits,
					  .times = opts->times,
					  .sources.wanted = opts->sources,
					  .on_chunk = opts->on_chunk,
					  .ctx = opts->ctx,
					  .taker = opts->taker,
					  .first_ns = PTC_NO_TIME };
	if (ptc_call_stream_init(&c->stream, &stream) ||
	    !ptc_call_sites_init(&c->sites, opts->d, &c->stream.names, &c->sources) ||
	    !ptc_event_encoder_init(&c->events) ||
	    !ptc_branch_collector_init(&c->branches, opts->d, &c->stream.names, &c->sources,
				       opts->limits.branches))
		return PTC_E_NO_MEMORY;
	c->branches.edges_max = opts->limits.edges;
	c->branches.encodes = !opts->taker;
	return 0;
}

void ptc_call_collector_release(struct ptc_call_collector *c)
{
	size_t i;

	for (i = 0; i < c->nthreads; i++) {
		free(c->threads[i].stack);
		free(c->threads[i].rows);
	}
	free(c->threads);
	free(c->sums);
	free(c->gaps);
	free(c->closed);
	free(c->queue_gaps);
	ptc_open_calls_release(&c->open);
	ptc_buf_release(&c->chunk);
	ptc_event_encoder_release(&c->events);
	ptc_branch_collector_release(&c->branches);
	ptc_idmap_release(&c->tids);
	free(c->insns);
	ptc_call_sites_release(&c->sites);
	ptc_view_sources_release(&c->sources);
	ptc_call_stream_release(&c->stream);
}

/* Returns the instructions of the thread @tid; NULL: out of memory. */
static uint64_t *insns_of_tid(struct ptc_call_collector *c, int32_t tid)
{
	size_t at = ptc_idmap_find(&c->tids, tid);

	if (at == SIZE_MAX) {
		at = c->tids.n;
		if (!ptc_grow(&c->insns, &c->insns_cap, at + 1, sizeof(*c->insns)) ||
		    !ptc_idmap_add(&c->tids, tid, at))
			return NULL;
		c->insns[at] = 0;
	}
	return &c->insns[at];
}

/* Collects a branch. The call stream has had the item, so it knows the thread. */
static int collect_branch(struct ptc_call_collector *c, const struct ptc_item *it)
{
	uint64_t *insns = it->tid >= 0 ? insns_of_tid(c, it->tid) : NULL;
	uint32_t number;
	struct ptc_view_thread *t;

	if (it->tid < 0)
		return 0;
	if (!insns)
		return PTC_E_NO_MEMORY;
	*insns += it->insns;
	number = ptc_call_stream_thread(&c->stream, it->tid);
	if (it->type != PTC_ITEM_BRANCH || number >= c->nthreads)
		return 0;
	c->too_many |= has_much_text(c);
	if (c->too_many)
		return PTC_E_LIMIT;
	t = &c->threads[number];
	add_time_of(c, it->time);
	if (!ptc_branch_collector_add(&c->branches, &t->branches, number, it, *insns, c->now_ns))
		return PTC_E_NO_MEMORY;
	if (!c->taker || c->branches.over)
		return 0;
	return c->taker->on_branch(c->taker->ctx, number, t->branches.last - 1,
				   (struct ptc_view_moment){ *insns, c->now_ns });
}

int ptc_call_collector_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_call_collector *c = ctx;
	size_t i;
	int rc = 0;

	if (c->branches.over)
		return ptc_call_stream_items(&c->stream, items, n);
	for (i = 0; i < n && !rc; i++) {
		rc = ptc_call_stream_items(&c->stream, &items[i], 1);
		if (!rc)
			rc = collect_branch(c, &items[i]);
	}
	return rc;
}

int ptc_call_collector_finish(struct ptc_call_collector *c)
{
	const int rc = ptc_call_stream_finish(&c->stream);

	if (rc)
		return rc;
	if (c->taker)
		return 0;
	return ptc_branch_collector_finish(&c->branches) ? hand_over_chunk(c) : PTC_E_NO_MEMORY;
}
