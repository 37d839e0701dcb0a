/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/completeness.h"
#include "cli/common/control.h"
#include "cli/common/sandbox.h"
#include "cli/record/record_exit.h"
#include "cli/record/record_signals.h"
#include "cli/snapshot/snapshot_args.h"

enum { PSB_PERIOD = 2048, VERDICT_ROWS = 64 };

/* Sources of requests: for a snapshot, or to end. */
struct asker {
	const struct ptc_snapshot_args *a;
	int fd;	       /* epoll of the two below */
	int signal_fd; /* signalfd */
	struct ptc_control control;
	uint64_t asked;	    /* number of snapshots requested */
	unsigned int count; /* number of signals to end */
	int sig;	    /* the last of these signals */
	char **paths;	    /* owned; paths of the written files */
	size_t npaths;
};

static enum ptc_wake_action request_snapshot(struct asker *k)
{
	k->asked++;
	return PTC_WAKE_SNAPSHOT;
}

/* A command also gets SIGINT and similar from the terminal, so its end is awaited once. */
static enum ptc_wake_action on_signal(struct asker *k, const struct signalfd_siginfo *si, pid_t cmd)
{
	const int sig = (int)si->ssi_signo;

	if (sig == SIGUSR2)
		return request_snapshot(k);
	if (sig == SIGALRM)
		return k->count ? PTC_WAKE_LEAVE : PTC_WAKE_GO_ON;
	k->sig = sig;
	if (++k->count > 1 || !k->a->opts.target.argv || cmd <= 0)
		return PTC_WAKE_LEAVE;
	if (sig == SIGTERM)
		(void)kill(cmd, SIGTERM);
	ptc_wake_later(si, k->a->grace_ns ? k->a->grace_ns : PTC_WAKE_GRACE);
	return PTC_WAKE_LAST;
}

static enum ptc_wake_action on_command(struct asker *k)
{
	switch (ptc_control_next(&k->control)) {
	case PTC_CONTROL_SNAPSHOT:
		ptc_control_wait(&k->control, k->asked + 1);
		return request_snapshot(k);
	case PTC_CONTROL_STOP:
		return PTC_WAKE_LEAVE;
	case PTC_CONTROL_CLOSED:
		(void)epoll_ctl(k->fd, EPOLL_CTL_DEL, k->control.fd, NULL);
		break;
	case PTC_CONTROL_NOTHING:
		break;
	}
	return PTC_WAKE_GO_ON;
}

static enum ptc_wake_action on_wake(void *ctx, pid_t cmd)
{
	struct asker *k = ctx;
	struct signalfd_siginfo si;

	if (read(k->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		return on_signal(k, &si, cmd);
	return k->control.fd < 0 ? PTC_WAKE_GO_ON : on_command(k);
}

static bool add_epoll_fd(struct asker *k, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return fd < 0 || !epoll_ctl(k->fd, EPOLL_CTL_ADD, fd, &e);
}

static int asker_open(struct asker *k, sigset_t *ret_mask, struct ptc_err *err)
{
	if (k->a->control && ptc_control_open(&k->control, k->a->control, err))
		return err->code;
	if (ptc_wake_signals(true, &k->signal_fd, ret_mask))
		goto failed;
	k->fd = epoll_create1(EPOLL_CLOEXEC);
	if (k->fd >= 0 && add_epoll_fd(k, k->signal_fd) && add_epoll_fd(k, k->control.fd))
		return 0;
failed:
	err->code = PTC_E_IO;
	(void)snprintf(err->msg, sizeof(err->msg), "cannot wait for signals and commands: %s",
		       strerror(errno));
	return err->code;
}

static void asker_close(struct asker *k, bool ended)
{
	ptc_control_close(&k->control, ended);
	if (k->signal_fd >= 0)
		(void)close(k->signal_fd);
	if (k->fd >= 0)
		(void)close(k->fd);
	while (k->npaths)
		free(k->paths[--k->npaths]);
	free(k->paths);
}

static void on_start(void *ctx, enum ptc_source_kind chosen, const char *why)
{
	const struct asker *k = ctx;
	const char *const what[] = { [PTC_SOURCE_PT] = "Intel PT",
				     [PTC_SOURCE_STEP] = "step, a software PMU",
				     [PTC_SOURCE_EMU] = "emu, QEMU runs the program" };

	if (k->a->quiet)
		return;
	ptc_say("source: %s (%s)", what[chosen], why);
	ptc_say("waiting; `kill -USR2 %d` takes a snapshot, ^C ends ptcap", (int)getpid());
}

/* Store @path. Without memory the path is skipped; its message was already printed. */
static void remember(struct asker *k, const char *path)
{
	char **more;

	if (!(k->npaths & (k->npaths - 1))) {
		more = reallocarray(k->paths, k->npaths ? 2 * k->npaths : 1, sizeof(*more));
		if (!more)
			return;
		k->paths = more;
	}
	k->paths[k->npaths] = strdup(path);
	k->npaths += k->paths[k->npaths] != NULL;
}

static void on_snapshot(void *ctx, const struct ptc_taken *t)
{
	struct asker *k = ctx;

	if (!k->a->quiet)
		ptc_say("snapshot %" PRIu64 ": '%s', %" PRIu64 " bytes of trace", t->n, t->path,
			t->bytes);
	if (!k->a->quiet && t->behind_ns == PTC_BEHIND_UNKNOWN)
		ptc_say("the trace stopped after the place (--at); this machine cannot measure how "
			"much later");
	else if (!k->a->quiet && t->behind_ns)
		ptc_say("the trace stopped %.3f us after the place (--at)",
			(double)t->behind_ns / 1e3);
	if (k->a->verbose && t->off_ns)
		ptc_say("the trace was off for %.3f ms; it stopped %.3f ms after the request",
			(double)t->off_ns / 1e6, (double)t->stopped_after_ns / 1e6);
	remember(k, t->path);
	ptc_control_taken(&k->control, t->wanted);
}

/*
 * Report the coverage of each thread in @path. Returns false with --strict if a thread is
 * incomplete.
 */
static bool report_thread_coverage(const struct asker *k, const char *path, bool show)
{
	struct ptc_verdict v = { .n = 0 };
	struct ptc_err err;
	bool good = false;

	if (ptc_verdict_make(&v, path, &err)) {
		ptc_say("cannot check '%s' for gaps: %s", path, err.msg);
	} else {
		good = ptc_verdict_complete(&v);
		if (show)
			ptc_say("in '%s':", path);
		if (show)
			ptc_verdict_show(stderr, "ptcap:", &v, VERDICT_ROWS);
		else if (!good)
			ptc_say("LOST: '%s' is not complete", path);
	}
	ptc_verdict_release(&v);
	return good || !k->a->strict;
}

/*
 * Judge the last snapshot for the user, or all of them with --strict. Runs after recording, in the
 * sandbox.
 */
static bool judge_all(const struct asker *k)
{
	const struct ptc_sandbox sandbox = { .off = k->a->no_sandbox, .finds_code = true };
	bool good = true;
	size_t i;

	if (ptc_sandbox_enter(&sandbox))
		return !k->a->strict;
	for (i = k->a->strict ? 0 : k->npaths - 1; k->npaths && i < k->npaths; i++)
		good = report_thread_coverage(k, k->paths[i], !k->a->quiet && i == k->npaths - 1) &&
		       good;
	return good;
}

static void on_note(void *ctx, const char *text)
{
	(void)ctx;
	ptc_say("%s", text);
}

/* AUTO never selects a source that slows a program a thousandfold or runs it in an emulator. */
static int check_source(struct ptc_record_opts *o, struct ptc_err *err)
{
	struct ptc_source_choice choice;
	const int rc = ptc_source_choose(o, &choice, err);

	if (!rc && choice.kind != PTC_SOURCE_PT) /* a snapshot begins at a PSB */
		o->source.psb_period = PSB_PERIOD;
	if (rc || o->source.kind != PTC_SOURCE_AUTO || choice.kind == PTC_SOURCE_PT)
		return rc;
	err->code = PTC_E_UNSUPPORTED;
	(void)snprintf(
		err->msg, sizeof(err->msg),
		"%.100s; use --source emu or --source step to take snapshots of a command; see "
		"`ptcap doctor`",
		choice.why);
	return err->code;
}

static void summary(const struct ptc_snapshot_args *a, const struct ptc_record_result *r)
{
	if (!a->quiet)
		ptc_say("%" PRIu64 " snapshot%s, %" PRIu64 " bytes of trace", r->snapshots,
			ptc_plural(r->snapshots), r->aux_bytes);
	if (!a->quiet && r->crashes)
		ptc_say("%" PRIu64
			" process%s killed by a signal; `ptcap crash show -i FILE` explains why",
			r->crashes, r->crashes == 1 ? " was" : "es were");
	if (!a->quiet && r->unmet)
		ptc_say("no snapshot for a place (--at): no thread reached it, or not often "
			"enough");
	if (!a->quiet && r->unseen)
		ptc_say("threads reached a place (--at) %" PRIu64 " more time%s while ptcap copied "
			"a snapshot; no snapshot was taken then",
			r->unseen, ptc_plural(r->unseen));
	if (!a->quiet && r->left_running && a->opts.target.argv)
		ptc_say("the command keeps running, untraced");
	ptc_outcome_say_untraced(r);
	ptc_outcome_say_losses(&a->opts, r);
}

static void set_callbacks(struct ptc_snapshot_args *a, struct asker *k)
{
	struct ptc_record_opts *o = &a->opts;

	o->rights.drop = !a->no_sandbox;
	o->callbacks.wake_fd = k->fd;
	o->callbacks.on_wake = on_wake;
	o->callbacks.on_start = on_start;
	o->callbacks.on_snapshot = on_snapshot;
	o->callbacks.on_note = a->verbose ? on_note : NULL;
	o->callbacks.wake_ctx = o->callbacks.start_ctx = o->callbacks.snapshot_ctx = k;
}

int ptc_cmd_snapshot(int argc, char **argv)
{
	struct ptc_snapshot_args a = { .opts = PTC_RECORD_OPTS_INIT };
	struct asker k = { .a = &a, .fd = -1, .signal_fd = -1, .control = PTC_CONTROL_INIT };
	struct ptc_record_result result;
	struct ptc_err err = { 0 };
	sigset_t mask;
	int code = ptc_snapshot_args_parse(argc, argv, &a);
	int rc;

	if (code >= 0)
		return code;
	rc = ptc_snapshot_args_places(&a, &err);
	if (!rc)
		rc = check_source(&a.opts, &err);
	if (!rc)
		rc = asker_open(&k, &mask, &err);
	if (!rc) {
		a.opts.target.sigmask = &mask;
		a.opts.output.cmdline = (const char *const *)argv - 1; /* argv[-1] is "ptcap" */
		set_callbacks(&a, &k);
		rc = ptc_record(&a.opts, &result, &err);
	}
	if (rc) {
		(void)ptc_say_err(&err);
		code = ptc_outcome_failure(&a.opts, &err);
	} else {
		summary(&a, &result);
		code = ptc_outcome_code(&a.opts, &result, a.strict, k.sig);
		if (!(a.quiet && !a.strict) && !judge_all(&k) && code == PTC_EXIT_OK)
			code = PTC_EXIT_FINDINGS;
	}
	asker_close(&k, !rc);
	ptc_snapshot_args_release(&a);
	return code;
}
