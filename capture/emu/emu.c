/* SPDX-License-Identifier: MIT */
/*
 * The emulated source. The command runs under qemu-x86_64 with our plugin, which sees every entered
 * block. A thread of ptcap makes a trace from that (trace_unit.h).
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/emu/block_store.h"
#include "capture/emu/command_check.h"
#include "capture/emu/cpu.h"
#include "capture/emu/hidden_environ.h"
#include "capture/emu/missing_syscalls.h"
#include "capture/emu/owner_liveness.h"
#include "capture/emu/pid_namespace.h"
#include "capture/emu/program.h"
#include "capture/emu/qemu_locate.h"
#include "capture/emu/shm_segment.h"
#include "capture/emu/trace_unit.h"
#include "capture/host/hostinfo.h"
#include "capture/host/launch.h"
#include "capture/soft/ground_truth.h"
#include "capture/soft/soft_attrs.h"
#include "capture/source/source.h"

enum {
	TSC_PER_CTC = 125,
	MTC_FREQ = 9, /* every 64000 TSC ticks */
	DATA_DEFAULT = 1 << 20,
	AUX_DEFAULT = 16 << 20,
	PSB_DEFAULT = 16384,
	WANT_STOP = 1,
	WANT_LEAVE = 2,
};

struct emu {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	sigset_t mask;
	struct ptc_clock clock;
	uint32_t pmu_type;
	struct ptc_emu_cpu *cpus; /* owned */
	size_t ncpus;
	struct ptc_lbr_stacks stacks;  /* of the threads of all CPUs */
	struct ptc_source_ring *descs; /* owned: one for each CPU */
	struct ptc_emu_shared *sh;     /* attached segment */
	int shm_id;
	struct ptc_emu_unit unit;

	struct ptc_launch launch;
	char *qemu, *plugin; /* owned: paths */
	struct ptc_emu_program program;
	char *path;	/* owned: path of the command */
	char **sh_argv; /* owned, if the shell runs it */

	int end_fd;		     /* eventfd: the unit has ended */
	int quit_fd;		     /* eventfd: the waiter should end */
	bool unit_runs, waiter_runs; /* these threads must be joined */
	pthread_t unit_thread, waiter_thread;
	pid_t pid;
	int status;
	atomic_bool gone; /* set by the waiter: the command has ended */
	atomic_int want;
	atomic_int pause; /* enum ptc_emu_pause */
	int rc;		  /* result of the unit */
	struct ptc_err err;
};

static struct emu *of(struct ptc_source *s)
{
	return (struct emu *)s; /* base is the first member */
}

/* --- threads --- */

static void *run_unit(void *arg)
{
	struct emu *s = arg;

	s->rc = ptc_emu_unit_run(&s->unit, &s->err);
	if (s->base.truth)
		ptc_truth_wake(s->base.truth);
	(void)eventfd_write(s->end_fd, 1);
	return NULL;
}

/* Waits for the command's end without reaping it: the pid stays valid until finish. */
static void *run_waiter(void *arg)
{
	struct emu *s = arg;
	struct pollfd fds[2] = { { .fd = (int)syscall(SYS_pidfd_open, s->pid, 0),
				   .events = POLLIN },
				 { .fd = s->quit_fd, .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents)
		atomic_store(&s->gone, true);
	ptc_emu_unit_wake(s->sh);
	(void)close(fds[0].fd);
	return NULL;
}

static int start_thread(pthread_t *t, bool *ret_runs, void *(*fn)(void *), struct emu *s,
			struct ptc_err *err)
{
	sigset_t all, old;
	int sys;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old); /* signals belong to the session */
	sys = pthread_create(t, NULL, fn, s);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot start a thread");
	*ret_runs = true;
	return 0;
}

/* --- the command line --- */

static char *plugin_option(const struct emu *s)
{
	const char *base = strrchr(s->path, '/');
	struct ptc_buf b = PTC_BUF_INIT;
	char text[3];
	size_t i;

	base = base ? base + 1 : s->path;
	ptc_emu_plugin_option(&b, s->plugin, s->shm_id, "first");
	ptc_buf_put(&b, ",comm=", 6);
	for (i = 0; i < 15 && base[i]; i++)
		ptc_buf_put(&b, text,
			    (size_t)snprintf(text, sizeof(text), "%02x", (unsigned char)base[i]));
	ptc_buf_put(&b, ",path=", 6);
	ptc_emu_put_name(&b, s->program.path);
	ptc_buf_u8(&b, 0);
	if (ptc_buf_failed(&b)) {
		ptc_buf_release(&b);
		return NULL;
	}
	return (char *)b.bytes;
}

static int launch(struct emu *s, struct ptc_err *err)
{
	char *option = plugin_option(s);
	char **env = ptc_emu_environ_hide(environ, s->sh->turns_env), **line = NULL;
	int rc;

	if (option && env)
		line = ptc_emu_program_line(&s->program, s->qemu, option);
	s->launch.env = env;
	rc = line ? ptc_launch_fork(&s->launch, line, &s->mask, &s->pid, err) : ptc_fail_mem(err);

	if (!rc)
		rc = ptc_launch_let_go(&s->launch, err);
	if (!rc)
		rc = ptc_launch_result(&s->launch, false, err);
	s->launch.env = NULL;
	free(env);
	free(line);
	free(option);
	return rc;
}

/* --- the interface --- */

static void emu_describe(struct ptc_source *src, struct ptc_source_desc *ret)
{
	const struct emu *s = of(src);
	const struct ptc_soft_desc d = {
		.label = "emu",
		.pmu_type = s->pmu_type,
		.psb_period = s->opts->source.psb_period ? s->opts->source.psb_period : PSB_DEFAULT,
		.mtc_freq = MTC_FREQ,
		.tsc_per_ctc = TSC_PER_CTC,
		.no_retcomp = s->opts->source.no_retcomp,
		.aux_size = s->descs[0].aux_size,
		.clock = &s->clock,
		.opts = s->opts,
	};

	ptc_soft_describe(&d, ret);
}

static size_t emu_rings(struct ptc_source *src, const struct ptc_source_ring **ret)
{
	*ret = of(src)->descs;
	return of(src)->ncpus;
}

static void emu_drained(struct ptc_source *src, size_t i, bool stopped)
{
	(void)stopped;
	ptc_softring_consumed(of(src)->cpus[i].ring);
}

static int emu_start(struct ptc_source *src, pid_t *ret_pid, struct ptc_err *err)
{
	struct emu *s = of(src);
	int rc = launch(s, err);

	if (!rc)
		rc = start_thread(&s->waiter_thread, &s->waiter_runs, run_waiter, s, err);
	if (!rc)
		rc = start_thread(&s->unit_thread, &s->unit_runs, run_unit, s, err);
	if (!rc)
		*ret_pid = s->pid;
	return rc;
}

static int emu_end_fd(struct ptc_source *src)
{
	return of(src)->end_fd;
}

static void emu_progress(struct ptc_source *src, struct ptc_progress *ret)
{
	ret->insns = atomic_load(&of(src)->unit.insns);
	ret->aux_bytes = atomic_load(&of(src)->unit.bytes);
}

static void request_trace_end(struct emu *s, int want)
{
	if (atomic_load(&s->want) < want)
		atomic_store(&s->want, want);
	ptc_emu_unit_wake(s->sh);
}

static bool emu_pause(struct ptc_source *src)
{
	struct emu *s = of(src);
	int was = PTC_EMU_GOES_ON;

	(void)atomic_compare_exchange_strong(&s->pause, &was, PTC_EMU_ASKED);
	if (was == PTC_EMU_PAUSED)
		return true;
	ptc_emu_unit_wake(s->sh);
	return false;
}

static void emu_resume(struct ptc_source *src)
{
	struct emu *s = of(src);

	atomic_store(&s->pause, PTC_EMU_GOES_ON);
	ptc_emu_unit_wake(s->sh);
}

static void emu_stop(struct ptc_source *src)
{
	request_trace_end(of(src), WANT_STOP);
}

static void emu_leave(struct ptc_source *src)
{
	request_trace_end(of(src), WANT_LEAVE);
}

static void emu_abandon(struct ptc_source *src)
{
	struct emu *s = of(src);
	size_t i;

	for (i = 0; i < s->ncpus; i++)
		if (s->cpus[i].ring)
			ptc_softring_close(s->cpus[i].ring);
	if (s->base.truth)
		ptc_truth_close(s->base.truth);
}

static void join_unit(struct emu *s)
{
	if (s->unit_runs)
		(void)pthread_join(s->unit_thread, NULL);
	s->unit_runs = false;
}

static void join_waiter(struct emu *s)
{
	if (!s->waiter_runs)
		return;
	(void)eventfd_write(s->quit_fd, 1);
	(void)pthread_join(s->waiter_thread, NULL);
	s->waiter_runs = false;
}

/* From here on the session may read the unit's data. */
static void emu_quiesce(struct ptc_source *src)
{
	join_unit(of(src));
}

static void add_up(struct ptc_source_end *ret, const struct ptc_emu_cpu *c)
{
	ret->insns += c->flow.insns;
	ret->transfers += c->flow.transfers;
	ret->unshown += c->flow.unshown;
	ret->odd += c->flow.odd;
	ret->lost_records += ptc_softring_lost_records(c->ring);
	ret->lost_aux += ptc_softring_lost_aux(c->ring) + c->dropped;
	ret->made_aux += ptc_enc_pos(c->enc);
}

static void emu_account(struct ptc_source *src, size_t i, struct ptc_ledger_ring *ret)
{
	const struct ptc_emu_cpu *c = &of(src)->cpus[i];

	ret->aux_dropped = ptc_softring_lost_aux(c->ring) + c->dropped;
}

static int emu_finish(struct ptc_source *src, struct ptc_source_end *ret, struct ptc_err *err)
{
	struct emu *s = of(src);
	bool gone;
	size_t i;

	join_unit(s);
	join_waiter(s);
	gone = atomic_load(&s->gone);
	if (gone)
		while (waitpid(s->pid, &s->status, 0) < 0 && errno == EINTR)
			;
	*ret = (struct ptc_source_end){
		.status = s->status,
		.left_running = !gone,
		.left_behind = s->unit.left_behind,
		.untraced = atomic_load(&s->sh->untraced),
		.cut_short = atomic_load(&s->sh->full),
		.follows = true,
	};
	for (i = 0; i < s->ncpus; i++)
		add_up(ret, &s->cpus[i]);
	ptc_emu_lack_names(s->sh, ret->lacking, sizeof(ret->lacking));
	ret->untraced += ptc_emu_unfollowed_text(s->sh, ret->unfollowed, sizeof(ret->unfollowed));
	if (!s->rc && gone && !atomic_load(&s->sh->loaded))
		return ptc_emu_not_loaded(s->qemu, s->plugin, err);
	if (s->rc)
		*err = s->err;
	return s->rc;
}

static int emu_code(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	ptc_mapped_put_code(&of(src)->unit.files, b);
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}

static void emu_free(struct ptc_source *src)
{
	struct emu *s = of(src);
	size_t i;

	if (!src)
		return;
	emu_abandon(src); /* an error elsewhere: the unit must not wait for a drain */
	if (s->unit_runs)
		request_trace_end(s, WANT_LEAVE);
	join_unit(s);
	join_waiter(s);
	ptc_emu_unit_release(&s->unit);
	ptc_launch_release(&s->launch);
	ptc_emu_program_release(&s->program);
	free(s->sh_argv);
	free(s->path);
	free(s->qemu);
	free(s->plugin);
	for (i = 0; i < s->ncpus; i++)
		ptc_emu_cpu_close(&s->cpus[i]);
	ptc_lbr_stacks_release(&s->stacks);
	free(s->cpus);
	free(s->descs);
	ptc_truth_free(s->base.truth);
	if (s->sh) {
		atomic_store(&s->sh->stop, 1);
		ptc_emu_disown(s->sh);
		(void)shmdt(s->sh);
	}
	if (s->end_fd >= 0)
		(void)close(s->end_fd);
	if (s->quit_fd >= 0)
		(void)close(s->quit_fd);
	free(s);
}

static const struct ptc_source_ops emu_ops = {
	.describe = emu_describe,
	.rings = emu_rings,
	.quiesce = emu_quiesce,
	.drained = emu_drained,
	.account = emu_account,
	.start = emu_start,
	.end_fd = emu_end_fd,
	.progress = emu_progress,
	.pause = emu_pause,
	.resume = emu_resume,
	.stop = emu_stop,
	.leave = emu_leave,
	.abandon = emu_abandon,
	.finish = emu_finish,
	.code = emu_code,
	.free = emu_free,
};

/* --- opening --- */

/* Lets the shell run a script without "#!", like execvp(3): sh, the script, its arguments. */
static enum ptc_emu_verdict find_shell(struct emu *s)
{
	char *const *argv = s->opts->target.argv;
	size_t n = 0;

	while (argv[n])
		n++;
	s->sh_argv = calloc(n + 2, sizeof(*s->sh_argv));
	if (!s->sh_argv)
		return PTC_EMU_NO_MEMORY;
	s->sh_argv[0] = (char *)"sh";
	s->sh_argv[1] = s->path;
	memcpy(s->sh_argv + 2, argv + 1, (n - 1) * sizeof(*argv));
	return ptc_emu_program_find("/bin/sh", s->sh_argv, &s->program);
}

static int find_program(struct emu *s, struct ptc_err *err)
{
	char *const *argv = s->opts->target.argv;
	enum ptc_emu_verdict v;
	int rc = ptc_launch_find(argv[0], &s->path, err);

	if (rc)
		return rc;
	v = ptc_emu_program_find(s->path, argv, &s->program);
	if (v == PTC_EMU_NO_FORMAT)
		v = find_shell(s);
	if (v == PTC_EMU_RUNS)
		return 0;
	if (v == PTC_EMU_NO_MEMORY)
		return ptc_fail_mem(err);
	return ptc_fail(err, PTC_E_BAD_COMMAND, "cannot emulate '%s': not a %sprogram", s->path,
			v == PTC_EMU_FOREIGN ? "64-bit x86 " : "");
}

static int share(struct emu *s, struct ptc_err *err)
{
	const uint64_t arena = s->opts->source.code_size ? s->opts->source.code_size :
							   PTC_EMU_ARENA;
	int sys, rc = ptc_emu_segment_new(arena, &s->shm_id, &s->sh, err);

	if (rc)
		return rc;
	sys = ptc_emu_own(s->sh);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot create a robust mutex");
	if (ptc_emu_program_has_rights(&s->program))
		ptc_emu_lack_note(s->sh, PTC_EMU_RIGHTS);
	s->sh->turns_env = ptc_emu_turns_env(s->qemu);
	s->sh->pid_ns = ptc_emu_pids_namespace();
	ptc_emu_arena_init(s->sh, arena);
	return 0;
}

static int open_cpus(struct emu *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;
	const uint64_t ratio = s->clock.tsc_hz / 100000000;
	const size_t n = o->source.vcpus ? o->source.vcpus : 1;
	struct ptc_emu_cpu_opts cpu = {
		.ring = { .data_size = o->rings.data_size ? o->rings.data_size : DATA_DEFAULT,
			  .aux_size = o->rings.aux_size ? o->rings.aux_size : AUX_DEFAULT,
			  .sample_type = PTC_SOFT_SAMPLE_TYPE,
			  .lossy = o->rings.lossy,
			  .overwrite = o->snapshot.enabled },
		.enc = { .no_retcomp = o->source.no_retcomp,
			 .psb_period = o->source.psb_period ? o->source.psb_period : PSB_DEFAULT,
			 .mtc_freq = MTC_FREQ,
			 .tsc_per_ctc = TSC_PER_CTC,
			 .cbr = (uint8_t)(ratio > 255 ? 255 : ratio) },
		.clock = &s->clock,
	};
	int rc = ptc_source_check_rings(cpu.ring.data_size, cpu.ring.aux_size, err);

	if (!rc && o->lbr.branches)
		rc = ptc_lbr_check(o, cpu.ring.data_size, err);
	if (rc)
		return rc;
	s->cpus = calloc(n, sizeof(*s->cpus));
	s->descs = calloc(n, sizeof(*s->descs));
	if (!s->cpus || !s->descs)
		return ptc_fail_mem(err);
	for (s->ncpus = 0; !rc && s->ncpus < n; s->ncpus++) {
		struct ptc_emu_cpu *c = &s->cpus[s->ncpus];

		cpu.number = (uint32_t)s->ncpus;
		cpu.first_id = (o->lbr.branches ? 3 : 2) * s->ncpus + 1;
		rc = ptc_emu_cpu_open(c, &cpu, err);
		if (!rc && o->lbr.branches)
			rc = ptc_emu_cpu_open_lbr(c, o, &s->stacks, s->base.truth, err);
		if (rc)
			continue;
		s->descs[s->ncpus] = ptc_emu_cpu_desc(c, cpu.number);
		c->flow.truth = o->callbacks.truth ? ptc_truth_put : NULL;
		c->flow.truth_ctx = s->base.truth;
	}
	return rc;
}

static int open_unit(struct emu *s, struct ptc_err *err)
{
	s->unit.sh = s->sh;
	s->unit.cpus = s->cpus;
	s->unit.ncpus = s->ncpus;
	s->unit.stacks = s->opts->lbr.branches ? &s->stacks : NULL;
	s->unit.watermark = s->opts->snapshot.enabled ? SIZE_MAX : s->descs[0].aux_size / 4;
	s->unit.shm_id = s->shm_id;
	s->unit.pause = s->opts->snapshot.enabled ? &s->pause : NULL;
	s->unit.gone = &s->gone;
	s->unit.want = &s->want;
	return ptc_emu_unit_init(&s->unit, err);
}

static int refuse(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = ptc_emu_cannot(o);

	if (o->source.vcpus > PTC_VCPUS_MAX)
		return ptc_fail(err, PTC_E_USAGE, "--vcpus is larger than %u", PTC_VCPUS_MAX);
	if (what)
		return ptc_fail(err, PTC_E_USAGE, "the emu source cannot %s; use --source step",
				what);
	if (o->source.code_size &&
	    (o->source.code_size < PTC_EMU_ARENA_MIN || o->source.code_size > PTC_EMU_ARENA_MAX ||
	     o->source.code_size % 4096))
		return ptc_fail(err, PTC_E_USAGE,
				"--code-size is not a multiple of the page size from 64K to 16G");
	return 0;
}

int ptc_emu_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err)
{
	struct emu *s;
	int rc = refuse(opts, err);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ptc_fail_mem(err);
	s->base.ops = &emu_ops;
	s->opts = opts;
	s->launch = (struct ptc_launch)PTC_LAUNCH_INIT;
	s->end_fd = eventfd(0, EFD_CLOEXEC);
	s->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (opts->target.sigmask)
		s->mask = *opts->target.sigmask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
	if (s->end_fd < 0 || s->quit_fd < 0)
		rc = ptc_fail_sys(err, errno, "cannot create an eventfd");
	if (!rc)
		rc = ptc_emu_find(&s->qemu, &s->plugin, err);
	if (!rc)
		rc = find_program(s, err);
	if (!rc)
		rc = share(s, err);
	if (!rc && opts->callbacks.truth)
		rc = ptc_truth_new(&s->base.truth, err);
	if (!rc) {
		ptc_clock_init_monotonic(&s->clock);
		s->pmu_type = ptc_hostinfo_pt_type("");
		rc = open_cpus(s, err);
	}
	if (!rc)
		rc = open_unit(s, err);
	if (rc)
		emu_free(&s->base);
	else
		*ret = &s->base;
	return rc;
}
