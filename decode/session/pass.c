/* SPDX-License-Identifier: MIT */
#include "decode/session/pass.h"

#include <linux/perf_event.h>

#include "base/err.h"
#include "decode/items/branch_counts.h"
#include "decode/segment/scheduler.h"
#include "decode/segment/segment.h"
#include "decode/segment/worker_pool.h"
#include "decode/session/decode_input.h"
#include "decode/session/shard_queue.h"

/* Returns true if no record gave the thread a process. */
static bool is_alone(const struct ptc_pass *p, const struct ptc_runner *who)
{
	const struct ptc_thread *t = who->pid > 0 ? ptc_procs_thread(&p->in->procs, who->tid) :
						    NULL;

	return who->pid > 0 && (!t || t->pid == -1);
}

/*
 * Gives the replay of @l its current context. Called before the replay steps, not when a record
 * changes the context: there may be thousands of queues and records.
 */
static void renew_context(struct ptc_pass *p, struct ptc_queue_decoder *l)
{
	struct ptc_runner who;

	if (l->context == p->contexts)
		return;
	l->context = p->contexts;
	who = ptc_procs_runner(&p->in->procs, l->tid, l->cpu);
	if (!p->in->notes.alone && is_alone(p, &who))
		p->in->notes.alone = who.pid;
	ptc_replay_set_context(l->replay, who.pid, who.tid, who.cpu,
			       who.proc ? &who.proc->as : &p->in->procs.nobody);
}

/*
 * Lost records may have been about anything. They become a gap of length 0 where the queue's trace
 * is at that time. No trace is missing, but items from here on may lack a mapping or a switch.
 */
static void list_lost(struct ptc_pass *p, const struct ptc_event *ev)
{
	struct ptc_queue_decoder *l = p->in->lanes;
	size_t i;

	if (ev->sb.type != PERF_RECORD_LOST)
		return;
	if (ev->time >= p->shard.from_ns)
		p->in->notes.lost_records += ev->sb.u.lost.lost;
	i = ptc_queue_map_find(&p->in->queues, &ev->sb.id);
	if (i == SIZE_MAX || !l)
		return;
	l += i;
	if (!ptc_spot_is_begin(l->start) && (!l->begun || ev->time < l->begin_ns))
		return; /* in front of the decoded part */
	renew_context(p, l);
	ptc_replay_lost(l->replay, ev->time ? ev->time : PTC_NO_TIME);
	if (l->part.on)
		ptc_shard_queue_lost(l, &p->stats);
	ptc_merge_changed(&p->merge, l);
}

/* Does the record say only which thread runs? */
static bool is_switch(const struct ptc_event *ev)
{
	return ev->sb.type == PERF_RECORD_SWITCH || ev->sb.type == PERF_RECORD_SWITCH_CPU_WIDE;
}

/*
 * Applies the sideband records up to @upto. Items that still wait for another queue will be handed
 * over with the processes in this later state: their order matters more than their function names.
 */
static int apply_sideband(struct ptc_pass *p, uint64_t upto, struct ptc_err *err)
{
	const struct ptc_event *ev;
	int r;

	while ((ev = ptc_sideband_peek(&p->in->sideband, upto)) != NULL) {
		list_lost(p, ev);
		if (ev->time > p->applied_ns)
			p->applied_ns = ev->time;
		if (!ptc_discontinuity_event(&p->in->joint, ev))
			return ptc_fail_mem(err);
		if (p->before_change && !is_switch(ev))
			p->before_change(p->change_ctx);
		r = ptc_sideband_apply(&p->in->sideband, &p->in->procs, err);
		if (r < 0)
			return r;
		p->contexts++;
	}
	return 0;
}

/*
 * Returns the live queue that is the furthest behind; on ties the first. *@ret_next: the next
 * queue's time.
 */
static struct ptc_queue_decoder *furthest_behind(struct ptc_pass *p, uint64_t *ret_next)
{
	uint64_t time;
	const ptrdiff_t first = ptc_least_first(&p->behind, &time);

	(void)ptc_least_second(&p->behind, ret_next);
	return first < 0 ? NULL : &p->in->lanes[first];
}

/* Call it when @l has stepped, or is not live any more. */
static void note_step(struct ptc_pass *p, struct ptc_queue_decoder *l)
{
	const size_t i = (size_t)(l - p->in->lanes);

	if (l->live)
		ptc_least_set(&p->behind, i, ptc_replay_time(l->replay));
	else
		ptc_least_clear(&p->behind, i);
	if (p->timeline && l->live)
		ptc_timeline_forget(p->timeline, i, ptc_replay_time(l->replay));
	else if (p->timeline)
		ptc_timeline_end(p->timeline, i);
	ptc_merge_changed(&p->merge, l);
	if (p->plan)
		ptc_scheduler_stepped(p->plan, l);
}

/* Returns true if @time (ns) is behind the requested time. */
static bool is_over(const struct ptc_pass *p, uint64_t time)
{
	return time >= p->to_ns && p->to_ns != UINT64_MAX;
}

/* Returns true if the rest of @l is behind the requested part. Its time is @time now. */
static bool leaves_out_rest(struct ptc_pass *p, struct ptc_queue_decoder *l, uint64_t time)
{
	if (l->part.on)
		return ptc_shard_queue_is_over(l);
	if (!is_over(p, time) || !is_over(p, ptc_replay_low(l->replay)))
		return false;
	p->stats.aux_bytes -= ptc_range_left(&l->stream, ptc_replay_spot(l->replay));
	return true;
}

/*
 * Returns true if there are enough items to hand over. Runs may be more, but must be handed over
 * before they have to be copied.
 */
static bool has_batch(const struct ptc_pass *p, const struct ptc_queue_decoder *l)
{
	const size_t n = ptc_out_waiting(ptc_replay_out(l->replay));

	if (n < PTC_QUEUE_DECODER_BATCH || !p->runs)
		return n >= PTC_QUEUE_DECODER_BATCH;
	return n >= (size_t)PTC_QUEUE_DECODER_BATCH * PTC_OUT_RUN_BATCHES ||
	       !ptc_replay_is_in_piece(l->replay);
}

/*
 * The decoder needs more of the trace behind the shard than the cutout has: a gap goes on, or no
 * item behind the border was found. The whole may have another output.
 */
static int end_early(const struct ptc_queue_decoder *l, struct ptc_err *err)
{
	return ptc_fail(err, PTC_E_FORMAT,
			"the trace of queue %u ends before the shard does; decode the shard from "
			"the whole recording",
			l->idx);
}

/*
 * Steps @l until it passes @limit or the next sideband record, or has a batch.
 * PTC_QUEUE_DECODER_PASS: another thread must go on with it.
 */
static int run_lane(struct ptc_pass *p, struct ptc_queue_decoder *l, uint64_t limit,
		    struct ptc_err *err)
{
	uint64_t t;
	int r;

	do {
		ptc_replay_set_applied(l->replay, p->applied_ns);
		r = l->part.on ? ptc_shard_queue_steps(l, p->plan, &p->stats, err) :
				 ptc_queue_decoder_steps(l, p->plan, err);
		if (r < 0 || r == PTC_QUEUE_DECODER_PASS)
			return r;
		if (!r) {
			l->live = false;
			return l->part.is_cut ? end_early(l, err) : 0;
		}
		t = ptc_replay_time(l->replay);
		if (!l->begun) {
			l->begun = true;
			l->begin_ns = t;
		}
		if (leaves_out_rest(p, l, t)) {
			l->live = false;
			return 0;
		}
	} while (t <= limit && !has_batch(p, l) && l->sums.transfers < PTC_SUMS_BATCH &&
		 (!p->in->clock.valid || !ptc_sideband_peek(&p->in->sideband, t)));
	return 0;
}

static struct ptc_replay_conf lane_conf(struct ptc_pass *p, struct ptc_queue_decoder *l)
{
	struct ptc_decode_input *in = p->in;

	return (struct ptc_replay_conf){
		.opts = &in->opts,
		.resync = in->resync,
		.ipt = &in->ipt,
		.engine = p->engine,
		.clock = in->clock,
		.contexts = &l->known,
		.stream = &l->stream,
		.psbs = &l->psbs,
		.start = l->start,
		.marks = l->marks,
		.nmarks = l->nmarks,
		.snapshots = l->snapshots,
		.queue = l->idx,
		.stats = &p->stats,
		.notes = &in->notes,
		.sums = &l->sums,
		.runs = p->runs,
		.from_ns = p->from_ns,
		.to_ns = p->to_ns == UINT64_MAX ? 0 : p->to_ns,
	};
}

/* Returns how many bytes of @l are to be decoded, up to its end or to the next shard. */
static uint64_t bytes_of_part(const struct ptc_queue_decoder *l)
{
	if (!l->part.on)
		return ptc_range_left(&l->stream, l->start);
	return ptc_range_left(&l->stream, l->part.from.at) -
	       ptc_range_left(&l->stream, l->part.to.at);
}

static int start_lanes(struct ptc_pass *p, struct ptc_err *err)
{
	size_t i;
	int r = ptc_merge_begin(&p->merge, p->in, &p->stats, err);

	p->merge.from_ns = p->shard.from_ns;
	ptc_least_release(&p->behind);
	if (!r && !ptc_least_init(&p->behind, p->in->nlanes))
		r = ptc_fail_mem(err);
	if (r < 0)
		return r;
	p->contexts++;
	for (i = 0; i < p->in->nlanes; i++) {
		struct ptc_queue_decoder *l = &p->in->lanes[i];

		l->conf = lane_conf(p, l);
		r = ptc_replay_new(&l->conf, &l->replay, err);
		if (r < 0)
			return r;
		l->live = !l->part.on || ptc_shard_queue_begin(l);
		l->begun = false;
		l->sums = ptc_sums_none();
		note_step(p, l);
		p->stats.aux_bytes += bytes_of_part(l);
	}
	return 0;
}

static void count_missing(struct ptc_pass *p)
{
	size_t i;

	for (i = 0; i < p->in->origin.files.n; i++)
		if (!p->in->origin.files.files[i]->bytes && p->in->origin.files.files[i]->cost.gaps)
			p->stats.missing_files++;
}

/* Hands over the sums of @l, if it counted any branches. */
static int give_sums(struct ptc_pass *p, struct ptc_queue_decoder *l, struct ptc_err *err)
{
	struct ptc_sums sums = l->sums;

	if (!sums.transfers)
		return 0;
	sums.queue = l->idx;
	l->sums = ptc_sums_none();
	if (p->in->opts.sums->on_sums(p->in->opts.sums->ctx, &sums))
		return ptc_fail(err, PTC_E_STOPPED, "decoding was stopped");
	return 0;
}

/* The rest of the decoding, done by one thread at a time; see ptc_pool_serve(). */
struct serving {
	struct ptc_pass *p;
	const struct ptc_sink *sink;
};

/* Returns the last time of the part to decode. */
static uint64_t last_wanted_ns(const struct ptc_pass *p)
{
	const uint64_t to = p->to_ns < p->shard.to_ns ? p->to_ns : p->shard.to_ns;

	return to == UINT64_MAX ? UINT64_MAX : to - (to > 0);
}

static int serve(void *ctx, struct ptc_err *err)
{
	const struct serving *s = ctx;
	struct ptc_pass *p = s->p;
	struct ptc_queue_decoder *l;
	uint64_t next;
	int r, passed;

	while ((l = furthest_behind(p, &next)) != NULL) {
		if (p->plan)
			ptc_scheduler_fill(p->plan);
		if (p->in->clock.valid) {
			r = apply_sideband(p, ptc_replay_time(l->replay), err);
			if (r < 0)
				return r;
		}
		renew_context(p, l);
		passed = run_lane(p, l, next, err);
		note_step(p, l);
		r = passed < 0 ? passed : ptc_merge_settled(&p->merge, s->sink, err);
		if (!r)
			r = give_sums(p, l, err);
		if (r < 0)
			return r;
		if (passed)
			return passed;
		if (p->pause && !p->plan)
			return PTC_PASS_PAUSED;
	}
	/* Records behind the end of the trace still count: some may be about lost records. */
	r = apply_sideband(p, last_wanted_ns(p), err);
	if (!r)
		r = ptc_merge_rest(&p->merge, s->sink, err);
	count_missing(p);
	return r;
}

static int run_lanes(struct ptc_pass *p, const struct ptc_sink *sink, struct ptc_err *err)
{
	struct serving s = { p, sink };
	int r = 0;

	/* Without times there is no order: applies all records first. */
	if (!p->in->clock.valid)
		r = apply_sideband(p, UINT64_MAX, err);
	if (r < 0)
		return r;
	return p->plan ? ptc_pool_serve(p->plan->jobs, serve, &s, err) : serve(&s, err);
}

int ptc_pass_rewind(struct ptc_pass *p, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < p->in->nlanes; i++) {
		ptc_replay_free(p->in->lanes[i].replay);
		p->in->lanes[i].replay = NULL;
	}
	p->stats = (struct ptc_decode_stats){ 0 };
	p->in->notes.unmapped = p->in->notes.kernel = (struct ptc_cost_nowhere){ .ip = 0 };
	p->in->notes.lost_records = 0;
	p->in->notes.alone = 0;
	p->in->notes.late_code = 0;
	for (i = 0; i < p->in->origin.files.n; i++)
		p->in->origin.files.files[i]->cost = (struct ptc_cost){ 0 };
	if (p->in->raw)
		return 0;
	ptc_procs_rewind(&p->in->procs);
	return ptc_sideband_rewind(&p->in->sideband, err);
}

/* Returns true if each branch must be examined separately. */
static bool is_choosy(const struct ptc_pass *p)
{
	const struct ptc_decode_opts *o = &p->in->opts;

	return o->engine == PTC_ENGINE_VERIFY || o->bytes || o->last || o->tids.n || o->cpus.n ||
	       o->sym || o->icount || p->from_ns || p->to_ns != UINT64_MAX;
}

/* Returns true if branches may be counted only. */
static bool can_count(const struct ptc_pass *p)
{
	return p->in->opts.sums && !is_choosy(p) && !p->in->joint.nkept;
}

/* Starts the engine. Only libipt lists events. Instructions are not compared with libipt's. */
static int start_engine(struct ptc_pass *p, struct ptc_err *err)
{
	const struct ptc_ipt_params *t = &p->in->ipt.params;
	const struct ptc_fast_clock clock = { t->mtc_freq, t->tsc_ctc_n, t->tsc_ctc_d };
	const struct ptc_decode_opts *o = &p->in->opts;
	int r;

	ptc_engine_free(p->engine);
	p->engine = NULL;
	if (o->engine == PTC_ENGINE_LIBIPT || o->events ||
	    (o->insns && o->engine == PTC_ENGINE_VERIFY))
		return 0;
	r = ptc_engine_new(o->engine, &clock, p->in->clock.valid, &p->engine, err);
	if (!r)
		p->engine->counts = can_count(p);
	return r;
}

static int start_timeline(struct ptc_pass *p, struct ptc_err *err)
{
	struct ptc_decode_input *in = p->in;
	const struct ptc_timeline_conf conf = { .queues = &in->queues,
						.procs = &in->procs,
						.sideband = &in->sideband,
						.timed = in->clock.valid };
	const int r = ptc_timeline_new(&conf, &p->timeline, err);
	size_t i;

	for (i = 0; !r && i < in->nlanes; i++)
		in->lanes[i].known =
			(struct ptc_queue_contexts){ .contexts = &p->timeline->lanes[i],
						     .scout = p->timeline };
	return r;
}

/* Starts several threads, if that is worth it. */
static int start_threads(struct ptc_pass *p, struct ptc_err *err)
{
	const struct ptc_decode_input *in = p->in;

	/*
	 * Code of a core is read as it is mapped. With CYC packets, the time depends on everything
	 * in front.
	 */
	if (in->origin.core || (in->cycles && in->clock.valid))
		return 0;
	return ptc_scheduler_new(in->lanes, in->nlanes, p->timeline, &p->ahead, &p->plan, err);
}

static int begin(struct ptc_pass *p, struct ptc_err *err)
{
	int r = start_engine(p, err);

	p->applied_ns = 0;
	p->runs = p->in->opts.runs && !is_choosy(p);
	ptc_discontinuity_rewind(&p->in->joint);
	if (!r)
		r = start_lanes(p, err);
	if (!r)
		r = start_timeline(p, err);
	if (!r)
		r = start_threads(p, err);
	return r;
}

void ptc_pass_end(struct ptc_pass *p)
{
	ptc_scheduler_free(p->plan);
	ptc_timeline_free(p->timeline);
	p->plan = NULL;
	p->timeline = NULL;
	p->paused = false;
}

int ptc_pass_run(struct ptc_pass *p, const struct ptc_sink *sink, struct ptc_err *err)
{
	int r = p->paused ? 0 : begin(p, err);

	p->pause = false;
	if (!r)
		r = run_lanes(p, sink, err);
	p->paused = r == PTC_PASS_PAUSED;
	if (!p->paused)
		ptc_pass_end(p);
	return r;
}

void ptc_pass_release(struct ptc_pass *p)
{
	ptc_least_release(&p->behind);
	ptc_merge_release(&p->merge);
	ptc_engine_free(p->engine);
}
