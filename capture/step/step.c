/* SPDX-License-Identifier: MIT */
/*
 * The step source: a user-space PMU. A separate process (tracer_process.h) takes the kernel's role.
 * It traces the command, makes packets and sideband records, and writes them into a ring pair. The
 * session drains this ring pair like any other.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/find_program.h"
#include "capture/host/debugreg_probe.h"
#include "capture/host/hostinfo.h"
#include "capture/host/pt_config.h"
#include "capture/soft/ground_truth.h"
#include "capture/soft/lbr.h"
#include "capture/soft/soft_attrs.h"
#include "capture/source/source.h"
#include "capture/step/tracer.h"
#include "capture/step/tracer_process.h"

enum {
	PT_ID = 1,
	SIDE_ID = 2,
	LBR_ID = 3,
	TSC_PER_CTC = 125,
	MTC_FREQ = 9, /* every 64000 TSC ticks: about one per step */
	DATA_DEFAULT = 256 << 10,
	AUX_DEFAULT = 1 << 20,
};

struct step {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	sigset_t mask;
	struct ptc_clock clock;
	uint32_t pmu_type;
	unsigned int cpu; /* the CPU on which all tasks are stepped */
	struct ptc_softring *ring;
	struct ptc_source_ring desc;
	struct ptc_enc *enc;
	struct ptc_flow flow;
	struct ptc_records rec;
	struct ptc_lbr lbr; /* if branch stacks are wanted */
	struct ptc_lbr_stacks stacks;
	struct ptc_tracer tracer;
	struct ptc_step_process process;
};

static struct step *of(struct ptc_source *s)
{
	return (struct step *)s; /* base is the first member */
}

static void before_publish(void *ctx, uint64_t from, uint64_t to)
{
	struct step *s = ctx;

	ptc_records_aux(&s->rec, from, to, 0);
}

static void on_packets(void *ctx, const uint8_t *bytes, size_t len)
{
	struct step *s = ctx;

	(void)ptc_softring_aux_write(s->ring, bytes, len, before_publish, s);
}

/* --- in the tracer process --- */

static int attach(struct step *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < o->target.npids; i++)
		rc = ptc_tracer_attach(&s->tracer, o->target.pids[i], false, err);
	for (i = 0; !rc && i < o->target.ntids; i++)
		rc = ptc_tracer_attach(&s->tracer, o->target.tids[i], true, err);
	if (rc)
		ptc_tracer_leave(&s->tracer);
	return rc;
}

/* In both cases the process is settled before it traces a task that its death could harm. */
static int launch_or_attach(struct step *s, pid_t *ret_pid, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;
	int rc;

	if (o->target.argv) {
		rc = ptc_tracer_launch(o->target.argv, &s->mask, ret_pid, err);
		if (!rc)
			ptc_step_process_settle(&s->process);
		return rc;
	}
	ptc_step_process_settle(&s->process);
	rc = attach(s, err);
	if (!rc)
		*ret_pid = o->target.npids ? o->target.pids[0] : o->target.tids[0];
	return rc;
}

static void fill_outcome(struct ptc_step_shared *sh, const struct ptc_tracer *t)
{
	sh->status = t->status;
	sh->left = t->left;
	sh->limited = t->limited;
	sh->unreached = t->zone.from.place && !t->zone.reached;
	sh->unmet = t->crossings.n && !t->crossings.met;
	sh->left_behind = t->left_behind;
	sh->untraced = t->untraced;
	sh->rightless = t->rightless;
	memcpy(sh->rightless_path, t->rightless_path, sizeof(sh->rightless_path));
	sh->transfers = t->flow->transfers;
	sh->unshown = t->flow->unshown;
	sh->odd = t->flow->odd;
	sh->crashes = t->crashes;
	sh->handled = t->handled;
	sh->done = true;
}

static void orphan(void *ctx)
{
	struct step *s = ctx;

	ptc_softring_close(s->ring);
	if (s->base.truth)
		ptc_truth_close(s->base.truth);
}

static void trace(void *ctx)
{
	struct step *s = ctx;
	struct ptc_step_shared *sh = s->process.shared;
	pid_t pid = 0;

	sh->rc = launch_or_attach(s, &pid, &sh->err);
	if (sh->rc) {
		sh->done = true;
		ptc_step_process_tell(&s->process);
		return;
	}
	sh->pid = pid;
	ptc_step_process_tell(&s->process);
	sh->rc = ptc_tracer_run(&s->tracer, s->opts->target.argv ? pid : 0, &sh->err);
	if (!sh->rc)
		sh->rc = ptc_tracer_keep_code(&s->tracer, &sh->err);
	fill_outcome(sh, &s->tracer);
	if (!s->tracer.tasks.n)
		return;
	orphan(s); /* the remaining records are not drained any more */
	ptc_step_process_linger(&s->process);
	ptc_tracer_let_go(&s->tracer);
}

/* --- the interface --- */

static void step_describe(struct ptc_source *src, struct ptc_source_desc *ret)
{
	const struct step *s = of(src);
	const struct ptc_soft_desc d = {
		.label = "step",
		.pmu_type = s->pmu_type,
		.psb_period = s->opts->source.psb_period,
		.mtc_freq = MTC_FREQ,
		.tsc_per_ctc = TSC_PER_CTC,
		.no_retcomp = s->opts->source.no_retcomp,
		.aux_size = s->desc.aux_size,
		.clock = &s->clock,
		.opts = s->opts,
	};

	ptc_soft_describe(&d, ret);
	ret->proc = "/proc";
}

static size_t step_rings(struct ptc_source *src, const struct ptc_source_ring **ret)
{
	*ret = &of(src)->desc;
	return 1;
}

static void step_drained(struct ptc_source *src, size_t i, bool stopped)
{
	(void)i;
	(void)stopped; /* never true: a producer waits for free space */
	ptc_softring_consumed(of(src)->ring);
}

static int step_start(struct ptc_source *src, pid_t *ret_pid, struct ptc_err *err)
{
	struct step *s = of(src);
	/* Not "ptcap": a command such as killall ptcap must not kill the process that detaches. */
	const struct ptc_step_body body = {
		.name = "pt-step-tracer", .run = trace, .orphan = orphan, .ctx = s
	};
	const struct ptc_step_shared *sh = s->process.shared;
	int rc = ptc_step_process_start(&s->process, &body, err);

	if (!rc)
		rc = ptc_step_process_started(&s->process, s->opts, err);
	src->early_snapshots = s->process.early_snapshots;
	src->early_last = s->process.early_last;
	if (rc)
		return rc;
	if (!sh->pid) {
		*err = sh->err;
		return sh->rc;
	}
	*ret_pid = sh->pid;
	return 0;
}

static int step_end_fd(struct ptc_source *src)
{
	return of(src)->process.end_fd;
}

static void step_tend(struct ptc_source *src)
{
	ptc_step_process_tend(&of(src)->process);
}

static void step_progress(struct ptc_source *src, struct ptc_progress *ret)
{
	const struct ptc_step_shared *sh = of(src)->process.shared;

	ret->insns = atomic_load(&sh->insns);
	ret->aux_bytes = atomic_load(&sh->bytes);
}

static bool step_pause(struct ptc_source *src)
{
	struct step *s = of(src);
	eventfd_t ignored;

	if (!ptc_step_process_pause(&s->process))
		return false;
	if (s->tracer.held_fd >= 0)
		(void)eventfd_read(s->tracer.held_fd, &ignored);
	return true;
}

static int step_held_fd(struct ptc_source *src)
{
	return of(src)->tracer.held_fd;
}

static void step_resume(struct ptc_source *src)
{
	ptc_step_process_resume(&of(src)->process);
}

static void step_stop(struct ptc_source *src)
{
	ptc_step_process_ask(&of(src)->process, PTC_WANT_STOP);
}

static void step_leave(struct ptc_source *src)
{
	ptc_step_process_ask(&of(src)->process, PTC_WANT_LEAVE);
}

static void step_abandon(struct ptc_source *src)
{
	orphan(of(src));
}

static int step_finish(struct ptc_source *src, struct ptc_source_end *ret, struct ptc_err *err)
{
	struct step *s = of(src);
	const struct ptc_step_shared *sh = s->process.shared;
	int rc = ptc_step_process_reap(&s->process, err);
	const bool unanswered = rc && s->process.killed;

	if (unanswered) /* the bytes that the tracer published are complete */
		rc = 0;
	*ret = (struct ptc_source_end){
		.unanswered = unanswered,
		.status = sh->status,
		.left_running = rc || unanswered || sh->left,
		.limited = sh->limited,
		.unreached = sh->unreached,
		.unmet = sh->unmet,
		.insns = atomic_load(&sh->insns),
		.transfers = sh->transfers,
		.unshown = sh->unshown,
		.odd = sh->odd,
		.left_behind = sh->left_behind,
		.follows = true,
		.untraced = sh->untraced,
		.crashes = sh->crashes,
		.handled = sh->handled,
		.lost_records = ptc_softring_lost_records(s->ring),
		.lost_aux = ptc_softring_lost_aux(s->ring),
	};
	ret->rightless = sh->rightless;
	memcpy(ret->rightless_path, sh->rightless_path, sizeof(ret->rightless_path));
	if (!rc && sh->rc) {
		*err = sh->err;
		rc = sh->rc;
	}
	return rc;
}

/* Appends the states of dead processes, which the tracer process has written. */
static int step_states(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	if (of(src)->process.killed) /* the last one may be incomplete */
		return 0;
	return ptc_states_take(&of(src)->tracer.states, b, err);
}

/* Appends the states of live processes, which the tracer process has written at its pause. */
static int step_lives(struct ptc_source *src, struct ptc_buf *b, uint64_t *ret, struct ptc_err *err)
{
	const int rc = ptc_states_get(&of(src)->tracer.lives, b, err);

	if (!rc)
		*ret += of(src)->process.shared->lives;
	return rc;
}

static int step_code(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	if (of(src)->process.killed)
		return 0;
	return ptc_states_get(&of(src)->tracer.code, b, err);
}

static void step_account(struct ptc_source *src, size_t i, struct ptc_ledger_ring *ret)
{
	(void)i; /* there is only one ring */
	ret->aux_dropped = ptc_softring_lost_aux(of(src)->ring);
}

static void step_free(struct ptc_source *src)
{
	struct step *s = of(src);

	if (!src)
		return;
	if (s->ring)
		orphan(s); /* an error elsewhere: the tracer must not wait for a drain */
	ptc_step_process_release(&s->process);
	ptc_states_release(&s->tracer.states);
	ptc_states_release(&s->tracer.lives);
	ptc_handled_release(&s->tracer.faults);
	ptc_states_release(&s->tracer.code);
	if (s->tracer.held_fd >= 0)
		(void)close(s->tracer.held_fd);
	ptc_tracer_release(&s->tracer);
	ptc_lbr_release(&s->lbr);
	ptc_lbr_stacks_release(&s->stacks);
	ptc_records_release(&s->rec);
	ptc_enc_free(s->enc);
	ptc_softring_free(s->ring);
	ptc_truth_free(s->base.truth);
	free(s);
}

static const struct ptc_source_ops step_ops = {
	.describe = step_describe,
	.rings = step_rings,
	.drained = step_drained,
	.account = step_account,
	.start = step_start,
	.end_fd = step_end_fd,
	.tend = step_tend,
	.progress = step_progress,
	.pause = step_pause,
	.resume = step_resume,
	.held_fd = step_held_fd,
	.stop = step_stop,
	.leave = step_leave,
	.abandon = step_abandon,
	.finish = step_finish,
	.states = step_states,
	.lives = step_lives,
	.code = step_code,
	.free = step_free,
};

/* Prepares for signals and places. */
static int look_out(struct step *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;
	int rc = o->snapshot.crash ? ptc_states_open(&s->tracer.states, err) : 0;

	if (!rc && o->snapshot.stacks && o->snapshot.series)
		rc = ptc_states_open(&s->tracer.lives, err);
	s->tracer.no_memory = o->snapshot.no_memory;
	s->tracer.on_signals = o->snapshot.on_signals;
	ptc_crossings_init(&s->tracer.crossings, o);
	if (rc || !o->snapshot.enabled ||
	    !(o->snapshot.crash || o->snapshot.on_signals || o->snapshot.nat))
		return rc;
	s->tracer.held_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return s->tracer.held_fd < 0 ? ptc_fail_sys(err, errno, "cannot create an eventfd") : 0;
}

/* Prepares branch stacks. */
static int open_lbr(struct step *s, struct ptc_err *err)
{
	int rc;

	if (!s->opts->lbr.branches)
		return 0;
	rc = ptc_lbr_check(s->opts, s->desc.data_size, err);
	if (!rc)
		rc = ptc_lbr_init(&s->lbr, s->opts, &s->stacks, &s->rec, LBR_ID, s->base.truth,
				  err);
	s->flow.lbr = &s->lbr;
	s->tracer.stacks = &s->stacks;
	s->desc.id[1] = LBR_ID;
	s->desc.id[2] = SIDE_ID;
	return rc;
}

int ptc_step_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err)
{
	struct ptc_enc_opts enc_opts = { .mtc_freq = MTC_FREQ, .tsc_per_ctc = TSC_PER_CTC };
	struct ptc_softring_opts ring_opts = { .overwrite = opts->snapshot.enabled,
					       .sample_type = PTC_SOFT_SAMPLE_TYPE };
	struct step *s = calloc(1, sizeof(*s));
	char *path = NULL;
	int rc;

	if (!s)
		return ptc_fail_mem(err);
	s->base.ops = &step_ops;
	s->opts = opts;
	s->process = (struct ptc_step_process)PTC_STEP_PROCESS_INIT;
	s->tracer.states = s->tracer.lives = s->tracer.code = (struct ptc_states)PTC_STATES_INIT;
	s->tracer.held_fd = -1;
	if (opts->target.sigmask)
		s->mask = *opts->target.sigmask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, &s->mask);

	ring_opts.data_size = opts->rings.data_size ? opts->rings.data_size : DATA_DEFAULT;
	ring_opts.aux_size = opts->rings.aux_size ? opts->rings.aux_size : AUX_DEFAULT;
	rc = ptc_source_check_rings(ring_opts.data_size, ring_opts.aux_size, err);
	if (!rc && opts->range.from && !ptc_hwbreak_works())
		rc = ptc_fail(err, PTC_E_UNSUPPORTED,
			      "hardware breakpoints do not work on this (virtual) machine, but "
			      "--from needs one: record without --from");
	if (!rc && opts->target.argv)
		/* fail before other work is done */
		rc = ptc_find_program(opts->target.argv[0], &path, err);
	free(path);
	if (!rc)
		rc = ptc_softring_new(&ring_opts, &s->ring, err);
	if (rc)
		goto out;
	ptc_clock_init_monotonic(&s->clock);
	s->pmu_type = ptc_hostinfo_pt_type("");
	enc_opts.no_retcomp = opts->source.no_retcomp;
	enc_opts.psb_period = opts->source.psb_period ? opts->source.psb_period :
							PTC_PSB_PERIOD_MIN;
	enc_opts.cbr =
		(uint8_t)(s->clock.tsc_hz / 100000000 > 255 ? 255 : s->clock.tsc_hz / 100000000);
	rc = ptc_enc_new(&enc_opts, on_packets, s, &s->enc, err);
	if (rc)
		goto out;
	rc = ptc_step_process_init(&s->process, err);
	if (!rc && opts->callbacks.truth)
		rc = ptc_truth_new(&s->base.truth, err);
	if (!rc)
		rc = look_out(s, err);
	if (!rc)
		rc = ptc_states_open(&s->tracer.code, err);
	if (rc)
		goto out;
	s->flow = (struct ptc_flow){ .enc = s->enc,
				     .truth = opts->callbacks.truth ? ptc_truth_put : NULL,
				     .truth_ctx = s->base.truth };
	s->cpu = (unsigned int)(sched_getcpu() < 0 ? 0 : sched_getcpu());
	s->rec.ring = s->ring;
	s->rec.cpu = s->cpu;
	s->rec.clock = &s->clock;
	s->rec.pt_id = PT_ID;
	s->rec.side_id = SIDE_ID;
	s->tracer.flow = &s->flow;
	s->tracer.rec = &s->rec;
	s->tracer.shared = s->process.shared;
	s->tracer.truth = s->base.truth;
	s->tracer.max_insns = opts->range.max_steps;
	ptc_zone_init(&s->tracer.zone, opts->range.from, opts->range.to);
	s->tracer.cpu = s->cpu;
	s->tracer.series = opts->snapshot.series;
	s->tracer.watermark = opts->snapshot.enabled ? SIZE_MAX : ring_opts.aux_size / 4;
	s->desc = (struct ptc_source_ring){
		.page = ptc_softring_page(s->ring),
		.data_off = (size_t)sysconf(_SC_PAGESIZE),
		.data_size = ring_opts.data_size,
		.aux = ptc_softring_aux(s->ring),
		.aux_size = ring_opts.aux_size,
		.fd = ptc_softring_fd(s->ring),
		.counts = true,
		.idx = 0,
		.tid = -1,
		.id = { PT_ID, SIDE_ID },
		.cpu = (int32_t)s->cpu,
	};
	rc = open_lbr(s, err);
	if (rc)
		goto out;
	*ret = &s->base;
	return 0;
out:
	step_free(&s->base);
	return rc;
}
