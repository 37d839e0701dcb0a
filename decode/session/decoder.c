/* SPDX-License-Identifier: MIT */
/*
 * Runs the decoder. The queue whose trace is the furthest behind makes a step. Before that, the
 * sideband records up to its time are applied. merge.c hands over the items.
 */
#include "decode/session/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/opts.h"
#include "decode/items/branch_counts.h"
#include "decode/segment/worker_pool.h"
#include "decode/session/last_n.h"
#include "decode/session/merge.h"
#include "decode/symbols/demangle.h"

int ptc_decode_take_opts(struct ptc_decode *d, const struct ptc_decode_opts *opts,
			 struct ptc_err *err)
{
	const struct ptc_decode_opts defaults = PTC_DECODE_OPTS_INIT;
	int r = ptc_opts_take(&d->opts, sizeof(d->opts), opts ? opts : &defaults,
			      "PTC_DECODE_OPTS_INIT", err);

	if (!r && d->opts.code) {
		r = ptc_opts_take(&d->code_opts, sizeof(d->code_opts), d->opts.code,
				  "PTC_CODE_OPTS_INIT", err);
		d->opts.code = &d->code_opts;
	}
	if (r)
		return r;
	d->pick.d = d;
	d->pick.to = UINT64_MAX;
	d->pick.sym = d->opts.sym;
	d->procs.origin = &d->origin;
	d->origin.files.mangled = d->opts.mangled;
	if (d->opts.sym && !d->opts.mangled)
		d->pick.plain = ptc_demangle(d->opts.sym);
	return 0;
}

void ptc_decode_free(struct ptc_decode *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->nlanes; i++) {
		ptc_replay_free(d->lanes[i].replay);
		ptc_stream_release(&d->lanes[i].stream);
		free(d->lanes[i].marks);
	}
	free(d->lanes);
	ptc_idmap_release(&d->lanes_of_tid);
	ptc_idmap_release(&d->lanes_of_cpu);
	ptc_least_release(&d->behind);
	ptc_merge_release(&d->merge);
	ptc_pick_release(&d->pick);
	ptc_sideband_release(&d->sideband);
	ptc_srclines_release(&d->srclines);
	ptc_procs_release(&d->procs);
	ptc_origin_release(&d->origin);
	ptc_engine_free(d->engine);
	if (d->ipt_ready)
		ptc_ipt_release(&d->ipt);
	ptc_notes_release(&d->notes);
	ptc_index_release(&d->index);
	ptc_joint_release(&d->joint);
	ptc_file_free(d->file);
	free(d);
}

struct ptc_runner ptc_runner_of(const struct ptc_decode *d, const struct ptc_lane *l)
{
	return ptc_procs_runner(&d->procs, l->tid, l->cpu);
}

/* Returns true if no record gave the thread a process. */
static bool is_alone(const struct ptc_decode *d, const struct ptc_runner *who)
{
	const struct ptc_thread *t = who->pid > 0 ? ptc_procs_thread(&d->procs, who->tid) : NULL;

	return who->pid > 0 && (!t || t->pid == -1);
}

void ptc_decode_set_context(struct ptc_decode *d, struct ptc_lane *l)
{
	const struct ptc_runner who = ptc_runner_of(d, l);

	if (!d->notes.alone && is_alone(d, &who))
		d->notes.alone = who.pid;
	ptc_replay_set_context(l->replay, who.pid, who.tid, who.cpu,
			       who.proc ? &who.proc->as : &d->procs.nobody);
}

/*
 * Gives the replay of @l its current context. Called before the replay steps, not when a record
 * changes the context: there may be thousands of queues and records.
 */
static void renew_context(struct ptc_decode *d, struct ptc_lane *l)
{
	if (l->context == d->contexts)
		return;
	l->context = d->contexts;
	ptc_decode_set_context(d, l);
}

/* Indexes the queues by thread and CPU, for ptc_decode_lane_of(). */
static bool index_lanes(struct ptc_decode *d)
{
	bool ok = true;
	size_t i;

	for (i = d->lanes_of_tid.n + d->lanes_of_cpu.n ? d->nlanes : 0; ok && i < d->nlanes; i++) {
		const struct ptc_lane *l = &d->lanes[i];
		struct ptc_idmap *m = l->tid != -1 ? &d->lanes_of_tid : &d->lanes_of_cpu;
		const int32_t id = l->tid != -1 ? l->tid : l->cpu;

		if (ptc_idmap_find(m, id) != SIZE_MAX)
			d->ids_repeat = true;
		else
			ok = ptc_idmap_add(m, id, i);
	}
	return ok;
}

struct ptc_lane *ptc_decode_lane_of(struct ptc_decode *d, const struct ptc_sample_id *id)
{
	size_t i = SIZE_MAX, of_cpu;

	if (id->has & PERF_SAMPLE_TID && id->tid != -1)
		i = ptc_idmap_find(&d->lanes_of_tid, id->tid);
	if (id->has & PERF_SAMPLE_CPU) {
		of_cpu = ptc_idmap_find(&d->lanes_of_cpu, (int32_t)id->cpu);
		i = of_cpu < i ? of_cpu : i;
	}
	if (i == SIZE_MAX)
		i = 0;
	return i < d->nlanes ? &d->lanes[i] : NULL;
}

/*
 * Lost records may have been about anything. They become a gap of length 0 where the queue's trace
 * is at that time. No trace is missing, but items from here on may lack a mapping or a switch.
 */
static void list_lost(struct ptc_decode *d, const struct ptc_event *ev)
{
	struct ptc_lane *l;

	if (ev->sb.type != PERF_RECORD_LOST)
		return;
	d->notes.lost_records += ev->sb.u.lost.lost;
	l = ptc_decode_lane_of(d, &ev->sb.id);
	if (l && !ptc_spot_is_begin(l->start) && (!l->begun || ev->time < l->begin_ns))
		return; /* in front of the decoded part */
	if (!l)
		return;
	renew_context(d, l);
	ptc_replay_lost(l->replay, ev->time ? ev->time : PTC_NO_TIME);
	ptc_merge_changed(d, l);
}

/*
 * Applies the sideband records up to @upto. Items that still wait for another queue will be handed
 * over with the processes in this later state: their order matters more than their function names.
 */
static int apply_sideband(struct ptc_decode *d, uint64_t upto, struct ptc_err *err)
{
	const struct ptc_event *ev;
	int r;

	while ((ev = ptc_sideband_peek(&d->sideband, upto)) != NULL) {
		list_lost(d, ev);
		if (ev->time > d->applied_ns)
			d->applied_ns = ev->time;
		if (!ptc_joint_event(&d->joint, ev))
			return ptc_fail_mem(err);
		r = ptc_sideband_apply(&d->sideband, &d->procs, err);
		if (r < 0)
			return r;
		d->contexts++;
	}
	return 0;
}

/*
 * Returns the live queue that is the furthest behind; on ties the first. *@ret_next: the next
 * queue's time.
 */
static struct ptc_lane *furthest_behind(struct ptc_decode *d, uint64_t *ret_next)
{
	uint64_t time;
	const ptrdiff_t first = ptc_least_first(&d->behind, &time);

	(void)ptc_least_second(&d->behind, ret_next);
	return first < 0 ? NULL : &d->lanes[first];
}

/* Call it when @l has stepped, or is not live any more. */
static void note_step(struct ptc_decode *d, struct ptc_lane *l)
{
	const size_t i = (size_t)(l - d->lanes);

	if (l->live)
		ptc_least_set(&d->behind, i, ptc_replay_time(l->replay));
	else
		ptc_least_clear(&d->behind, i);
	if (d->timeline && l->live)
		ptc_scout_forget(d->timeline, i, ptc_replay_time(l->replay));
	else if (d->timeline)
		ptc_scout_end(d->timeline, i);
	ptc_merge_changed(d, l);
	if (d->plan)
		ptc_plan_stepped(d->plan, l);
}

/* The rest of @l is behind the requested time: skips it. */
static void leave_out_rest(struct ptc_decode *d, struct ptc_lane *l)
{
	d->stats.aux_bytes -= ptc_range_left(&l->stream, ptc_replay_spot(l->replay));
	l->live = false;
}

/*
 * Returns true if there are enough items to hand over. Runs may be more, but must be handed over
 * before they have to be copied.
 */
static bool has_batch(const struct ptc_decode *d, const struct ptc_lane *l)
{
	const size_t n = ptc_out_waiting(ptc_replay_out(l->replay));

	if (n < PTC_LANE_BATCH || !d->runs)
		return n >= PTC_LANE_BATCH;
	return n >= (size_t)PTC_LANE_BATCH * PTC_OUT_RUN_BATCHES ||
	       !ptc_replay_is_in_piece(l->replay);
}

/*
 * Steps @l until it passes @limit or the next sideband record, or has a batch. PTC_LANE_PASS:
 * another thread must go on with it.
 */
static int run_lane(struct ptc_decode *d, struct ptc_lane *l, uint64_t limit, struct ptc_err *err)
{
	uint64_t t;
	int r;

	do {
		ptc_replay_set_applied(l->replay, d->applied_ns);
		r = ptc_lane_steps(d, l, err);
		if (r < 0 || r == PTC_LANE_PASS)
			return r;
		if (!r) {
			l->live = false;
			return 0;
		}
		t = ptc_replay_time(l->replay);
		if (!l->begun) {
			l->begun = true;
			l->begin_ns = t;
		}
		if (ptc_pick_is_over(&d->pick, t) &&
		    ptc_pick_is_over(&d->pick, ptc_replay_low(l->replay))) {
			leave_out_rest(d, l);
			return 0;
		}
	} while (t <= limit && !has_batch(d, l) && l->sums.transfers < PTC_SUMS_BATCH &&
		 (!d->clock.valid || !ptc_sideband_peek(&d->sideband, t)));
	return 0;
}

static int start_lanes(struct ptc_decode *d, struct ptc_err *err)
{
	size_t i;
	int r = ptc_merge_begin(d, err);

	ptc_least_release(&d->behind);
	if (!r && (!index_lanes(d) || !ptc_least_init(&d->behind, d->nlanes)))
		r = ptc_fail_mem(err);
	if (r < 0)
		return r;
	d->contexts++;
	for (i = 0; i < d->nlanes; i++) {
		struct ptc_lane *l = &d->lanes[i];
		const struct ptc_replay_conf conf = ptc_lane_conf(d, l);

		r = ptc_replay_new(&conf, &l->replay, err);
		if (r < 0)
			return r;
		l->live = true;
		l->begun = false;
		l->sums = ptc_sums_none();
		note_step(d, l);
		d->stats.aux_bytes += ptc_range_left(&l->stream, l->start);
	}
	return 0;
}

static void count_missing(struct ptc_decode *d)
{
	size_t i;

	for (i = 0; i < d->origin.files.n; i++)
		if (!d->origin.files.files[i]->bytes && d->origin.files.files[i]->cost.gaps)
			d->stats.missing_files++;
}

/* Hands over the sums of @l, if it counted any branches. */
static int give_sums(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	struct ptc_sums sums = l->sums;

	if (!sums.transfers)
		return 0;
	sums.queue = l->idx;
	l->sums = ptc_sums_none();
	if (d->opts.sums->on_sums(d->opts.sums->ctx, &sums))
		return ptc_fail(err, PTC_E_STOPPED, "decoding was stopped");
	return 0;
}

/* The rest of the decoding, done by one thread at a time; see ptc_jobs_serve(). */
struct serving {
	struct ptc_decode *d;
	const struct ptc_sink *sink;
};

static int serve(void *ctx, struct ptc_err *err)
{
	const struct serving *s = ctx;
	struct ptc_decode *d = s->d;
	struct ptc_lane *l;
	uint64_t next;
	int r, passed;

	while ((l = furthest_behind(d, &next)) != NULL) {
		if (d->plan)
			ptc_plan_fill(d->plan);
		if (d->clock.valid) {
			r = apply_sideband(d, ptc_replay_time(l->replay), err);
			if (r < 0)
				return r;
		}
		renew_context(d, l);
		passed = run_lane(d, l, next, err);
		note_step(d, l);
		r = passed < 0 ? passed : ptc_merge_settled(d, s->sink, err);
		if (!r)
			r = give_sums(d, l, err);
		if (r < 0)
			return r;
		if (passed)
			return passed;
	}
	/* Records behind the end of the trace still count: some may be about lost records. */
	r = apply_sideband(d, d->pick.to == UINT64_MAX ? UINT64_MAX : d->pick.to - (d->pick.to > 0),
			   err);
	if (!r)
		r = ptc_merge_rest(d, s->sink, err);
	count_missing(d);
	return r;
}

static int run_lanes(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err)
{
	struct serving s = { d, sink };
	int r = 0;

	/* Without times there is no order: applies all records first. */
	if (!d->clock.valid)
		r = apply_sideband(d, UINT64_MAX, err);
	if (r < 0)
		return r;
	return d->plan ? ptc_jobs_serve(d->plan->jobs, serve, &s, err) : serve(&s, err);
}

int ptc_decode_rewind(struct ptc_decode *d, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < d->nlanes; i++) {
		ptc_replay_free(d->lanes[i].replay);
		d->lanes[i].replay = NULL;
	}
	d->stats = (struct ptc_decode_stats){ 0 };
	d->notes.unmapped = d->notes.kernel = (struct ptc_cost_nowhere){ .ip = 0 };
	d->notes.lost_records = 0;
	d->notes.alone = 0;
	d->notes.late_code = 0;
	for (i = 0; i < d->origin.files.n; i++)
		d->origin.files.files[i]->cost = (struct ptc_cost){ 0 };
	if (d->raw)
		return 0;
	ptc_procs_rewind(&d->procs);
	return ptc_sideband_rewind(&d->sideband, d->no_rounds, err);
}

/* Returns true if each branch must be examined separately. */
static bool is_choosy(const struct ptc_decode *d)
{
	const struct ptc_decode_opts *o = &d->opts;

	return o->engine == PTC_ENGINE_VERIFY || o->bytes || o->last || o->tids.n || o->cpus.n ||
	       ptc_pick_is_needed(&d->pick);
}

/* Returns true if branches may be counted only. */
static bool can_count(const struct ptc_decode *d)
{
	return d->opts.sums && !is_choosy(d) && !d->joint.nkept;
}

/* Starts the engine. Only libipt lists instructions and events. */
static int start_engine(struct ptc_decode *d, struct ptc_err *err)
{
	const struct ptc_ipt_params *p = &d->ipt.params;
	const struct ptc_fast_clock clock = { p->mtc_freq, p->tsc_ctc_n, p->tsc_ctc_d };
	int r;

	ptc_engine_free(d->engine);
	d->engine = NULL;
	if (d->opts.engine == PTC_ENGINE_LIBIPT || d->opts.insns || d->opts.events)
		return 0;
	r = ptc_engine_new(d->opts.engine, &clock, d->clock.valid, &d->engine, err);
	if (!r)
		d->engine->counts = can_count(d);
	return r;
}

static int start_timeline(struct ptc_decode *d, struct ptc_err *err)
{
	const int r = ptc_scout_new(d, &d->timeline, err);
	size_t i;

	for (i = 0; !r && i < d->nlanes; i++)
		d->lanes[i].known = (struct ptc_known){ .contexts = &d->timeline->lanes[i],
							.scout = d->timeline };
	return r;
}

int ptc_decode_pass(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err)
{
	int r = start_engine(d, err);

	d->applied_ns = 0;
	d->runs = d->opts.runs && !is_choosy(d);
	ptc_joint_rewind(&d->joint);
	if (!r)
		r = start_lanes(d, err);
	if (!r)
		r = start_timeline(d, err);
	if (!r)
		r = ptc_plan_new(d, &d->plan, err);
	if (!r)
		r = run_lanes(d, sink, err);
	ptc_plan_free(d->plan);
	ptc_scout_free(d->timeline);
	d->plan = NULL;
	d->timeline = NULL;
	return r;
}

static int run_picked(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err)
{
	const struct ptc_sink picked = { ptc_pick_items, &d->pick };
	int r;

	d->pick.sink = sink;
	r = ptc_decode_pass(d, &picked, err);
	d->stats.branches = d->pick.branches;
	memcpy(d->stats.gaps, d->pick.gaps, sizeof(d->stats.gaps));
	return d->pick.failed ? ptc_fail_mem(err) : r;
}

int ptc_decode_run(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err)
{
	int r;

	if (d->ran)
		return ptc_fail(err, PTC_E_USAGE, "this recording was already decoded");
	d->ran = true;
	if (d->opts.last) {
		r = ptc_last_find(d, err);
		if (r < 0)
			return r;
	}
	return ptc_pick_is_needed(&d->pick) ? run_picked(d, sink, err) :
					      ptc_decode_pass(d, sink, err);
}

int ptc_decode_get_times(const struct ptc_decode *d, uint64_t *ret_first_ns, uint64_t *ret_last_ns,
			 struct ptc_err *err)
{
	uint64_t first, last, low = UINT64_MAX, high = 0;
	size_t i;

	for (i = 0; i < d->nlanes; i++) {
		if (!ptc_range_times(&d->lanes[i].stream, &d->clock, &first, &last))
			continue;
		low = first < low ? first : low;
		high = last > high ? last : high;
	}
	if (low > high)
		return ptc_fail(err, PTC_E_NOT_EXIST, "the trace has no times");
	*ret_first_ns = low;
	*ret_last_ns = high;
	return 0;
}

int ptc_decode_choose_time(struct ptc_decode *d, uint64_t from_ns, uint64_t to_ns,
			   struct ptc_err *err)
{
	size_t i;

	if (d->opts.last || d->ran)
		return ptc_fail(
			err, PTC_E_USAGE,
			"--time must be set before decoding, and cannot be combined with --last");
	if (!d->clock.valid)
		return ptc_fail(err, PTC_E_NOT_EXIST, "the trace has no times");
	d->pick.from = from_ns;
	d->pick.to = to_ns;
	for (i = 0; i < d->nlanes; i++)
		d->lanes[i].start = ptc_range_at_time(&d->lanes[i].stream, &d->clock, from_ns);
	return 0;
}

void ptc_decode_get_engine_stats(const struct ptc_decode *d, struct ptc_engine_stats *ret)
{
	*ret = d->engine ? d->engine->stats : (struct ptc_engine_stats){ .pieces = 0 };
}

bool ptc_decode_get_engine_reason(const struct ptc_decode *d, size_t i,
				  struct ptc_engine_reason *ret)
{
	if (!d->engine || i >= d->engine->nreasons)
		return false;
	*ret = d->engine->reasons[i];
	return true;
}

const char *ptc_decode_difference(const struct ptc_decode *d)
{
	return d->engine && d->engine->difference[0] ? d->engine->difference : NULL;
}

void ptc_decode_get_stats(const struct ptc_decode *d, struct ptc_decode_stats *ret)
{
	*ret = d->stats;
}

const char *ptc_decode_symbol(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			      uint64_t *ret_off)
{
	const struct ptc_proc *p = ptc_procs_find(&d->procs, item->pid);

	return ip ? ptc_origin_symbol(&d->procs, p, ip, item->time, ret_off) : NULL;
}

const char *ptc_decode_file(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			    uint64_t *ret_off)
{
	const struct ptc_proc *p = ptc_procs_find(&d->procs, item->pid);
	const struct ptc_addrspace *as = p ? &p->as : &d->procs.nobody;
	const struct ptc_range *r = ip ? ptc_addrspace_find(as, ip) : NULL;

	if (!r || !r->file)
		return NULL;
	*ret_off = ip - r->start + r->off;
	return r->file->name;
}

uint64_t ptc_decode_life(const struct ptc_decode *d, const struct ptc_item *item)
{
	return ptc_procs_life(&d->procs, item->tid, item->pid);
}

uint64_t ptc_decode_code_state(const struct ptc_decode *d, const struct ptc_item *item)
{
	const struct ptc_proc *p = ptc_procs_find(&d->procs, item->pid);
	const struct ptc_addrspace *as = p ? &p->as : &d->procs.nobody;

	/*
	 * Address spaces without a number belong to processes whose code does not change, or is not
	 * known. Their numbers count down from the top. Neither count gets to half of the range, so
	 * they never meet.
	 */
	return as->state ? as->state + ((as->kernel ? as->kernel->version : 0) << 28) :
			   (UINT64_MAX >> 8) - ptc_addrspace_version(as);
}
