/* SPDX-License-Identifier: MIT */
/*
 * The step source: a user-space PMU. A thread of its own plays the kernel's
 * part: it traces the command, makes packets and side records, and writes them
 * into a ring pair that the session drains like any other.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/hostinfo.h"
#include "capture/launch.h"
#include "capture/pt_config.h"
#include "capture/source.h"
#include "capture/step/tracer.h"

enum {
	PT_ID = 1,
	SIDE_ID = 2,
	TSC_PER_CTC = 125,
	MTC_FREQ = 9, /* every 64000 TSC ticks: about one a step */
	DATA_DEFAULT = 256 << 10,
	AUX_DEFAULT = 1 << 20,
};

struct step {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	sigset_t mask;
	struct ptc_clock clock;
	uint32_t pmu_type;
	unsigned int cpu; /* all is stepped there */
	struct ptc_softring *ring;
	struct ptc_source_ring desc;
	struct ptc_enc *enc;
	struct ptc_flow flow;
	struct ptc_records rec;
	struct ptc_tracer tracer;
	struct ptc_code_entry *code; /* for struct ptc_source_end */

	pthread_t thread;
	bool joined; /* or never started */
	bool kick_installed;
	struct sigaction old_kick;
	int end_fd;
	atomic_bool leave; /* session -> tracer */
	atomic_bool ended; /* tracer -> session: do not kick any more */
	sem_t launched;	   /* tracer -> session: the fields below are set */
	pid_t pid;
	int rc; /* launch's at first, then the run's */
	struct ptc_err err;
};

static struct step *of(struct ptc_source *s)
{
	return (struct step *)s; /* base is the first member */
}

/* The signal that gets the tracer out of waitpid. Its handler has nothing to do. */
static int kick_signal(void)
{
	return SIGRTMIN + 5;
}

static void on_kick(int sig)
{
	(void)sig;
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

/* --- the tracer thread --- */

static int attach(struct step *s)
{
	const struct ptc_record_opts *o = s->opts;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < o->npids; i++)
		rc = ptc_tracer_attach(&s->tracer, o->pids[i], false, &s->err);
	for (i = 0; !rc && i < o->ntids; i++)
		rc = ptc_tracer_attach(&s->tracer, o->tids[i], true, &s->err);
	if (rc)
		ptc_tracer_leave(&s->tracer);
	else
		s->pid = o->npids ? o->pids[0] : o->tids[0];
	return rc;
}

static void *run(void *arg)
{
	struct step *s = arg;
	const uint64_t one = 1;
	sigset_t kick;

	(void)sigemptyset(&kick);
	(void)sigaddset(&kick, kick_signal());
	(void)pthread_sigmask(SIG_UNBLOCK, &kick, NULL);
	s->rc = s->opts->argv ? ptc_tracer_launch(s->opts->argv, &s->mask, &s->pid, &s->err) :
				attach(s);
	if (s->rc) {
		atomic_store(&s->ended, true);
		(void)sem_post(&s->launched);
		return NULL;
	}
	(void)sem_post(&s->launched);
	s->rc = ptc_tracer_run(&s->tracer, s->opts->argv ? s->pid : 0, &s->err);
	atomic_store(&s->ended, true);
	(void)!write(s->end_fd, &one, sizeof(one));
	return NULL;
}

/* --- the interface --- */

static void step_describe(struct ptc_source *src, struct ptc_source_desc *ret)
{
	const struct step *s = of(src);
	struct perf_event_attr *pt = &ret->attr[0], *side = &ret->attr[1];
	uint32_t psb = 0;

	while ((uint32_t)PTC_PSB_PERIOD_MIN << psb < s->opts->psb_period)
		psb++;
	memset(ret, 0, sizeof(*ret));
	pt->type = s->pmu_type;
	pt->size = PERF_ATTR_SIZE_VER7;
	pt->config = PTC_CFG_PT | PTC_CFG_TSC | PTC_CFG_MTC | PTC_CFG_BRANCH |
		     (uint64_t)MTC_FREQ << PTC_CFG_MTC_FREQ_SHIFT |
		     (uint64_t)psb << PTC_CFG_PSB_SHIFT;
	if (s->opts->no_retcomp)
		pt->config |= PTC_CFG_NORETCOMP;
	pt->sample_period = 1;
	pt->sample_type = PTC_SOFT_SAMPLE_TYPE;
	pt->read_format = PERF_FORMAT_ID;
	pt->disabled = 1;
	pt->exclude_kernel = 1;
	pt->exclude_hv = 1;
	pt->inherit = 1;
	pt->enable_on_exec = 1;
	pt->sample_id_all = 1;
	pt->aux_watermark = (uint32_t)(s->desc.aux_size / 4);

	side->type = PERF_TYPE_SOFTWARE;
	side->size = PERF_ATTR_SIZE_VER7;
	side->config = PERF_COUNT_SW_DUMMY;
	side->sample_period = 1;
	side->sample_type = PTC_SOFT_SAMPLE_TYPE;
	side->read_format = PERF_FORMAT_ID;
	side->exclude_kernel = 1;
	side->exclude_hv = 1;
	side->mmap = 1;
	side->mmap2 = 1;
	side->comm = 1;
	side->comm_exec = 1;
	side->task = 1;
	side->context_switch = 1;
	side->inherit = 1;
	side->enable_on_exec = 1;
	side->sample_id_all = 1;

	ret->name[0] = "intel_pt//u";
	ret->name[1] = "dummy:u";
	ret->id[0] = PT_ID;
	ret->id[1] = SIDE_ID;
	ret->label = "step";
	ret->info = (struct ptc_pt_info){
		.type = PTC_AUXTRACE_TYPE_INTEL_PT,
		.pmu_type = s->pmu_type,
		.time = s->clock.conv,
		.cap_user_time_zero = true,
		.have_sched_switch = 2, /* one ring, a CPU's: SWITCH records say whose turn it is */
		.per_cpu_mmaps = true,
		.tsc_ctc_n = TSC_PER_CTC,
		.tsc_ctc_d = 1,
		.max_nonturbo_ratio = (uint32_t)(s->clock.tsc_hz / 100000000),
		.filter = "",
	};
	ptc_source_config_masks(&ret->info);
}

static size_t step_rings(struct ptc_source *src, const struct ptc_source_ring **ret)
{
	*ret = &of(src)->desc;
	return 1;
}

static void step_drained(struct ptc_source *src, size_t i, bool stopped)
{
	(void)i;
	(void)stopped; /* never: a producer without room waits */
	ptc_softring_consumed(of(src)->ring);
}

static int step_start(struct ptc_source *src, pid_t *ret_pid, struct ptc_err *err)
{
	struct step *s = of(src);
	const struct sigaction sa = { .sa_handler = on_kick }; /* no SA_RESTART */
	int sys;

	if (sigaction(kick_signal(), &sa, &s->old_kick))
		return ptc_fail_sys(err, errno, "cannot install a signal handler");
	s->kick_installed = true;
	sys = pthread_create(&s->thread, NULL, run, s);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot start a thread");
	s->joined = false;
	while (sem_wait(&s->launched)) /* EINTR only */
		;
	if (!s->pid) {
		(void)pthread_join(s->thread, NULL);
		s->joined = true;
		*err = s->err;
		return s->err.code;
	}
	*ret_pid = s->pid;
	return 0;
}

static int step_end_fd(struct ptc_source *src)
{
	return of(src)->end_fd;
}

static void step_leave(struct ptc_source *src)
{
	struct step *s = of(src);

	atomic_store(&s->leave, true);
	if (!s->joined && !atomic_load(&s->ended))
		(void)pthread_kill(s->thread, kick_signal());
}

static void step_abandon(struct ptc_source *src)
{
	ptc_softring_close(of(src)->ring);
}

static int step_finish(struct ptc_source *src, struct ptc_source_end *ret, struct ptc_err *err)
{
	struct step *s = of(src);
	const struct ptc_tracer *t = &s->tracer;
	size_t i;

	(void)pthread_join(s->thread, NULL);
	s->joined = true;
	memset(ret, 0, sizeof(*ret));
	ret->status = t->status;
	ret->left_running = t->left;
	ret->insns = s->flow.insns;
	ret->transfers = s->flow.transfers;
	ret->odd = s->flow.odd;
	ret->left_behind = t->left_behind;
	ret->follows = true;
	ret->untraced = t->untraced;
	ret->lost_records = ptc_softring_lost_records(s->ring);
	ret->lost_aux = ptc_softring_lost_aux(s->ring);
	s->code = t->nsaved ? calloc(t->nsaved, sizeof(*s->code)) : NULL;
	if (t->nsaved && !s->code)
		return ptc_fail_mem(err);
	for (i = 0; i < t->nsaved; i++)
		s->code[i] = (struct ptc_code_entry){
			.time = t->saved[i].time,
			.addr = t->saved[i].addr,
			.bytes = ptc_cur_init(t->saved[i].bytes, t->saved[i].len),
			.pid = t->saved[i].pid,
			.name = "[vdso]",
		};
	ret->code = s->code;
	ret->ncode = t->nsaved;
	if (s->rc)
		*err = s->err;
	return s->rc;
}

static void step_free(struct ptc_source *src)
{
	struct step *s = of(src);

	if (!src)
		return;
	if (!s->joined) { /* an error elsewhere: let the target go, and wait for our thread */
		ptc_softring_close(s->ring);
		while (!atomic_load(&s->ended)) {
			const struct timespec ts = { .tv_nsec = 1000000 };

			step_leave(src);
			(void)nanosleep(&ts, NULL);
		}
		(void)pthread_join(s->thread, NULL);
	}
	if (s->kick_installed)
		(void)sigaction(kick_signal(), &s->old_kick, NULL);
	ptc_tracer_release(&s->tracer);
	ptc_records_release(&s->rec);
	ptc_enc_free(s->enc);
	ptc_softring_free(s->ring);
	(void)sem_destroy(&s->launched);
	if (s->end_fd >= 0)
		(void)close(s->end_fd);
	free(s->code);
	free(s);
}

static const struct ptc_source_ops step_ops = {
	.describe = step_describe,
	.rings = step_rings,
	.drained = step_drained,
	.start = step_start,
	.end_fd = step_end_fd,
	.leave = step_leave,
	.abandon = step_abandon,
	.finish = step_finish,
	.free = step_free,
};

int ptc_step_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err)
{
	struct ptc_enc_opts enc_opts = { .mtc_freq = MTC_FREQ, .tsc_per_ctc = TSC_PER_CTC };
	struct ptc_softring_opts ring_opts = { .sample_type = PTC_SOFT_SAMPLE_TYPE };
	struct step *s = calloc(1, sizeof(*s));
	char *path = NULL;
	int rc;

	if (!s)
		return ptc_fail_mem(err);
	s->base.ops = &step_ops;
	s->opts = opts;
	s->joined = true;
	s->end_fd = -1;
	(void)sem_init(&s->launched, 0, 0);
	if (opts->cmd_sigmask)
		s->mask = *opts->cmd_sigmask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, &s->mask);

	ring_opts.data_size = opts->data_size ? opts->data_size : DATA_DEFAULT;
	ring_opts.aux_size = opts->aux_size ? opts->aux_size : AUX_DEFAULT;
	rc = ptc_source_check_rings(ring_opts.data_size, ring_opts.aux_size, err);
	if (!rc && opts->argv)
		rc = ptc_launch_find(opts->argv[0], &path, err); /* before any work is done */
	free(path);
	if (!rc)
		rc = ptc_softring_new(&ring_opts, &s->ring, err);
	if (rc)
		goto out;
	ptc_clock_init(&s->clock);
	s->pmu_type = ptc_hostinfo_pt_type("");
	enc_opts.no_retcomp = opts->no_retcomp;
	enc_opts.psb_period = opts->psb_period ? opts->psb_period : PTC_PSB_PERIOD_MIN;
	enc_opts.cbr =
		(uint8_t)(s->clock.tsc_hz / 100000000 > 255 ? 255 : s->clock.tsc_hz / 100000000);
	rc = ptc_enc_new(&enc_opts, on_packets, s, &s->enc, err);
	if (rc)
		goto out;
	s->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->end_fd < 0) {
		rc = ptc_fail_sys(err, errno, "cannot make an eventfd");
		goto out;
	}
	s->flow = (struct ptc_flow){ .enc = s->enc,
				     .truth = opts->truth,
				     .truth_ctx = opts->truth_ctx };
	s->cpu = (unsigned int)(sched_getcpu() < 0 ? 0 : sched_getcpu());
	s->rec.ring = s->ring;
	s->rec.cpu = s->cpu;
	s->rec.clock = &s->clock;
	s->rec.pt_id = PT_ID;
	s->rec.side_id = SIDE_ID;
	s->tracer.flow = &s->flow;
	s->tracer.rec = &s->rec;
	s->tracer.leave = &s->leave;
	s->tracer.cpu = s->cpu;
	s->tracer.kick = kick_signal();
	s->tracer.watermark = ring_opts.aux_size / 4;
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
		.cpu = (int32_t)s->cpu,
	};
	*ret = &s->base;
	return 0;
out:
	step_free(&s->base);
	return rc;
}
