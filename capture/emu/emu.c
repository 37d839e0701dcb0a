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
#include "capture/emu/emu_source.h"
#include "capture/emu/hidden_environ.h"
#include "capture/emu/missing_syscalls.h"
#include "capture/emu/owner_liveness.h"
#include "capture/emu/qemu_locate.h"
#include "capture/soft/ground_truth.h"
#include "capture/soft/soft_attrs.h"

enum { WANT_STOP = 1, WANT_LEAVE = 2 };

static struct ptc_emu_source *of(struct ptc_source *s)
{
	return (struct ptc_emu_source *)s; /* base is the first member */
}

/* --- threads --- */

static void *run_unit(void *arg)
{
	struct ptc_emu_source *s = arg;

	s->rc = ptc_emu_unit_run(&s->unit, &s->err);
	if (s->base.truth)
		ptc_truth_wake(s->base.truth);
	(void)eventfd_write(s->end_fd, 1);
	return NULL;
}

/* Waits for the command's end without reaping it: the pid stays valid until finish. */
static void *run_waiter(void *arg)
{
	struct ptc_emu_source *s = arg;
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

static int start_thread(pthread_t *t, bool *ret_runs, void *(*fn)(void *), struct ptc_emu_source *s,
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

static char *plugin_option(const struct ptc_emu_source *s)
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

static int launch(struct ptc_emu_source *s, struct ptc_err *err)
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
	const struct ptc_emu_source *s = of(src);
	const struct ptc_soft_desc d = {
		.label = "emu",
		.pmu_type = s->pmu_type,
		.psb_period = s->opts->source.psb_period ? s->opts->source.psb_period :
							   PTC_EMU_PSB_DEFAULT,
		.mtc_freq = PTC_EMU_MTC_FREQ,
		.tsc_per_ctc = PTC_EMU_TSC_PER_CTC,
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
	struct ptc_emu_source *s = of(src);
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

static void request_trace_end(struct ptc_emu_source *s, int want)
{
	if (atomic_load(&s->want) < want)
		atomic_store(&s->want, want);
	ptc_emu_unit_wake(s->sh);
}

static bool emu_pause(struct ptc_source *src)
{
	struct ptc_emu_source *s = of(src);
	int was = PTC_EMU_GOES_ON;
	eventfd_t ignored;

	(void)atomic_compare_exchange_strong(&s->pause, &was, PTC_EMU_ASKED);
	if (was != PTC_EMU_PAUSED) {
		ptc_emu_unit_wake(s->sh);
		return false;
	}
	if (s->held_fd >= 0)
		(void)eventfd_read(s->held_fd, &ignored);
	return true;
}

static int emu_held_fd(struct ptc_source *src)
{
	return of(src)->held_fd;
}

static void emu_resume(struct ptc_source *src)
{
	struct ptc_emu_source *s = of(src);

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
	struct ptc_emu_source *s = of(src);
	size_t i;

	for (i = 0; i < s->ncpus; i++)
		if (s->cpus[i].ring)
			ptc_softring_close(s->cpus[i].ring);
	if (s->base.truth)
		ptc_truth_close(s->base.truth);
}

static void join_unit(struct ptc_emu_source *s)
{
	if (s->unit_runs)
		(void)pthread_join(s->unit_thread, NULL);
	s->unit_runs = false;
}

static void join_waiter(struct ptc_emu_source *s)
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
	struct ptc_emu_source *s = of(src);
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
		.undumped = atomic_load(&s->sh->undumped),
		.cut_short = atomic_load(&s->sh->full),
		.crashes = s->unit.crashes,
		.handled = s->unit.handled,
		.unmet = s->opts->snapshot.nat && !s->unit.met_point,
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

static int emu_states(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	struct ptc_buf *states = &of(src)->unit.states;

	ptc_buf_put(b, states->bytes, states->len);
	ptc_buf_reset(states);
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}

static int emu_lives(struct ptc_source *src, struct ptc_buf *b, uint64_t *ret, struct ptc_err *err)
{
	struct ptc_emu_unit *u = &of(src)->unit;

	ptc_buf_put(b, u->lives.bytes, u->lives.len);
	*ret += u->nlives;
	ptc_buf_reset(&u->lives);
	u->nlives = 0;
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}

static int emu_code(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	ptc_mapped_put_code(&of(src)->unit.files, b);
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}

static void emu_free(struct ptc_source *src)
{
	struct ptc_emu_source *s = of(src);
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
	if (s->held_fd >= 0)
		(void)close(s->held_fd);
	free(s);
}

const struct ptc_source_ops ptc_emu_source_ops = {
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
	.held_fd = emu_held_fd,
	.stop = emu_stop,
	.leave = emu_leave,
	.abandon = emu_abandon,
	.finish = emu_finish,
	.states = emu_states,
	.lives = emu_lives,
	.code = emu_code,
	.free = emu_free,
};
