/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/ledger.h"
#include "cli/record/buildid_cache.h"
#include "cli/record/ground_truth_file.h"
#include "cli/record/record_exit.h"
#include "cli/record/record_run.h"
#include "cli/record/record_signals.h"

/*
 * Receives signals. SIGINT, SIGQUIT and SIGHUP also reach CMD directly, from the common terminal.
 * SIGTERM does not.
 */
struct waker {
	int fd;
	unsigned int count;
	int sig;      /* the last signal */
	bool command; /* a command must end first */
	uint64_t grace_ns;
};

enum { LEDGER_ROWS = 64 }; /* rows printed with -v; the file has all */

static enum ptc_wake_action on_wake(void *ctx, pid_t cmd)
{
	struct waker *w = ctx;
	struct signalfd_siginfo si;

	if (read(w->fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return PTC_WAKE_GO_ON;
	if (si.ssi_signo == SIGUSR2)
		return PTC_WAKE_SNAPSHOT;
	if (si.ssi_signo == SIGALRM)
		return w->count ? PTC_WAKE_LEAVE : PTC_WAKE_GO_ON;
	w->sig = (int)si.ssi_signo;
	if (++w->count > 1 || !w->command || cmd <= 0)
		return PTC_WAKE_LEAVE;
	if (w->sig == SIGTERM)
		(void)kill(cmd, SIGTERM);
	ptc_wake_later(&si, w->grace_ns);
	return PTC_WAKE_GO_ON;
}

static void on_start(void *ctx, enum ptc_source_kind chosen, const char *why)
{
	const struct ptc_record_args *a = ctx;

	if (chosen == PTC_SOURCE_STEP)
		ptc_say("source: step, a software PMU (%s)", why);
	else if (chosen == PTC_SOURCE_EMU)
		ptc_say("source: emu, QEMU runs the program (%s)", why);
	else
		ptc_say("source: %s (%s)", a->opts.source.event ? a->opts.source.event : "Intel PT",
			why);
	if (!a->opts.target.argv && (a->opts.target.npids || a->opts.target.ntids))
		ptc_say("attached; ^C ends the recording, and the processes keep running");
	else if (!a->opts.target.argv)
		ptc_say("recording; ^C ends it");
}

static void on_note(void *ctx, const char *text)
{
	(void)ctx;
	ptc_say("%s", text);
}

static void clear_line(struct ptc_record_args *a)
{
	if (a->line)
		fputs("\r\033[K", stderr);
	a->line = false;
}

static void on_progress(void *ctx, const struct ptc_progress *p)
{
	struct ptc_record_args *a = ctx;
	const double s = (double)p->elapsed_ns / 1e9;

	clear_line(a);
	fprintf(stderr, "ptcap: %.0f s, ", s);
	if (p->insns)
		fprintf(stderr, "%" PRIu64 " instructions (%.0f/s), ", p->insns,
			(double)p->insns / s);
	fprintf(stderr, "%.1f MB of trace%s", (double)p->aux_bytes / 1e6, a->terminal ? "" : "\n");
	a->line = a->terminal;
	(void)fflush(stderr);
}

/* Returns true if each snapshot has a file of its own, with a number. */
static bool has_several_files(const struct ptc_record_args *a)
{
	return a->opts.snapshot.series && a->opts.snapshot.count != 1;
}

static void on_snapshot(void *ctx, const struct ptc_taken *t)
{
	struct ptc_record_args *a = ctx;

	clear_line(a);
	if (has_several_files(a))
		ptc_say("snapshot %" PRIu64 ": '%s', %" PRIu64 " bytes of trace", t->n, t->path,
			t->bytes);
	else
		ptc_say("snapshot %" PRIu64 ": %" PRIu64 " bytes of trace", t->n, t->bytes);
}

static void on_ledger(void *ctx, const struct ptc_ledger_ring *rings, size_t nrings,
		      const struct ptc_ledger_event *events, size_t nevents)
{
	struct ptc_record_args *a = ctx;

	clear_line(a);
	ptc_ledger_show_rings(stderr, "ptcap:", rings, nrings, LEDGER_ROWS);
	ptc_ledger_show_events(stderr, "ptcap:", events, nevents, LEDGER_ROWS);
}

static void tell_crash(const struct ptc_record_args *a, const struct ptc_record_result *r)
{
	const bool ended = a->opts.target.argv && !r->left_running;
	const char *first = has_several_files(a) ? ".000" : "";

	if (r->handled)
		ptc_say("%" PRIu64 " process%s a fault and exited with a failure; "
			"`ptcap crash show -i '%s%s'` explains the %s",
			r->handled, r->handled == 1 ? " handled" : "es handled",
			a->opts.output.path, first, *first ? "first" : "last one");
	if (r->handled && !r->crashes)
		return;
	if (!r->crashes && ended && WIFSIGNALED(r->status))
		ptc_say("signal %d killed the command, but its state could not be read from /proc",
			WTERMSIG(r->status));
	else if (!r->crashes && ended && WEXITSTATUS(r->status))
		ptc_say("no signal killed a process: the command exited with status %d. If its "
			"runtime reported an error, let it abort: GOTRACEBACK=crash (Go), "
			"ASAN_OPTIONS=abort_on_error=1. If it handled a signal, use "
			"`ptcap snapshot --on-signal SEGV`",
			WEXITSTATUS(r->status));
	else if (!r->crashes && r->states)
		ptc_say("no signal killed a process; `ptcap stacks '%s%s'` shows what its threads "
			"did "
			"at the end",
			a->opts.output.path, first);
	else if (!r->crashes)
		ptc_say("no signal killed a process");
	else
		ptc_say("%" PRIu64 " process%s killed by a signal; `ptcap crash show -i '%s%s'` "
			"explains %s",
			r->crashes, r->crashes == 1 ? " was" : "es were", a->opts.output.path,
			first, *first ? "the first" : "why");
}

/* Names the file or files. */
static void say_written(const struct ptc_record_args *a, const struct ptc_record_result *r)
{
	const char *path = a->opts.output.path;

	if (has_several_files(a) && r->snapshots > 1)
		ptc_say("wrote '%s.000' to '%s.%03" PRIu64 "': %" PRIu64 " bytes, %" PRIu64
			" of them trace",
			path, path, r->snapshots - 1, r->file_bytes, r->aux_bytes);
	else
		ptc_say("wrote '%s%s': %" PRIu64 " bytes, %" PRIu64 " of them trace", path,
			has_several_files(a) ? ".000" : "", r->file_bytes, r->aux_bytes);
}

static void summary(const struct ptc_record_args *a, const struct ptc_record_result *r)
{
	if (r->source != PTC_SOURCE_PT)
		ptc_say("%" PRIu64 " instruction%s, %" PRIu64 " branch%s in %.3f s", r->insns,
			ptc_plural(r->insns), r->transfers, ptc_plural_es(r->transfers),
			(double)r->duration_ns / 1e9);
	if (r->unshown)
		ptc_say("%" PRIu64 " of these branches cannot be decoded: they are in loops of "
			"direct jumps and calls, for which Intel PT has no packets",
			r->unshown);
	if (a->opts.lbr.aux_sample)
		ptc_say("wrote '%s': %" PRIu64 " bytes; %" PRIu64 " sample%s with up to %" PRIu64
			" bytes of trace each",
			a->opts.output.path, r->file_bytes, r->samples, ptc_plural(r->samples),
			a->opts.lbr.aux_sample);
	else
		say_written(a, r);
	if (a->opts.lbr.branches)
		ptc_say("%" PRIu64 " branch stack%s", r->samples, ptc_plural(r->samples));
	if (a->opts.snapshot.enabled && (!r->made_aux || has_several_files(a)))
		ptc_say("%" PRIu64 " snapshot%s: %" PRIu64 " bytes of trace", r->snapshots,
			ptc_plural(r->snapshots), r->aux_bytes);
	else if (a->opts.snapshot.enabled)
		ptc_say("%" PRIu64 " snapshot%s: %" PRIu64 " of %" PRIu64
			" bytes of generated trace",
			r->snapshots, ptc_plural(r->snapshots), r->aux_bytes, r->made_aux);
	if (r->kcore_bytes)
		ptc_say("copied the kernel's code (--kcore): %" PRIu64 " bytes", r->kcore_bytes);
	if (a->opts.snapshot.crash)
		tell_crash(a, r);
	if (r->packed_out)
		ptc_say("compressed %" PRIu64 " bytes of sideband records to %" PRIu64,
			r->packed_in, r->packed_out);
	if (r->limited)
		ptc_say("reached the limit; the recorded processes keep running, untraced");
	if (r->cut_short)
		ptc_say("CUT SHORT: the memory for code is full; use a larger --code-size. The "
			"recording is complete up to that moment; later nothing was traced");
	if (r->unreached)
		ptc_say("--from was never reached; the recording has no trace");
	if (r->left_running && a->opts.target.argv)
		ptc_say("the command keeps running, untraced");
	if (r->left_behind)
		ptc_say("processes or threads that keep running after the command, untraced: "
			"%" PRIu64,
			r->left_behind);
	ptc_outcome_say_untraced(r);
	if (r->odd)
		ptc_say("%" PRIu64 " unexpected jump%s by the kernel while single-stepping; the "
			"trace may be wrong there",
			r->odd, ptc_plural(r->odd));
	ptc_outcome_say_losses(&a->opts, r);
	if (a->verbose && r->enabled_ns)
		ptc_say("all events together: enabled for %.6f s, running for %.6f s",
			(double)r->enabled_ns / 1e9, (double)r->running_ns / 1e9);
	if (r->lost_aux && r->made_aux)
		ptc_say("generated trace: %" PRIu64 " bytes", r->made_aux);
}

int ptc_recording_run(struct ptc_record_args *a, char **argv)
{
	struct ptc_record_result result;
	struct waker waker = { .fd = -1 };
	struct ptc_truth_file truth = PTC_TRUTH_FILE_INIT;
	struct ptc_err err = { 0 };
	sigset_t mask;
	int code, rc;

	if (ptc_wake_signals(a->opts.snapshot.enabled, &waker.fd, &mask)) {
		ptc_say("cannot create a signalfd: %s", strerror(errno));
		return PTC_EXIT_PTCAP;
	}
	a->opts.target.sigmask = &mask;
	a->opts.output.cmdline =
		(const char *const *)argv - 1; /* argv[-1] is main's argv[0]: "ptcap" */
	a->opts.callbacks.wake_fd = waker.fd;
	a->opts.callbacks.on_wake = on_wake;
	a->opts.callbacks.wake_ctx = &waker;
	waker.command = a->opts.target.argv != NULL;
	waker.grace_ns = a->grace_ns ? a->grace_ns : PTC_WAKE_GRACE;
	if (a->verbose) {
		a->opts.callbacks.on_note = on_note;
		a->opts.callbacks.on_ledger = on_ledger;
	}
	a->opts.callbacks.ledger_ctx = a;
	if (!a->quiet) {
		a->opts.callbacks.on_start = on_start;
		a->opts.callbacks.on_snapshot = on_snapshot;
	}
	a->opts.rights.drop = !a->no_sandbox;
	a->opts.rights.other_output = a->truth_path;
	a->opts.callbacks.start_ctx = a;
	a->opts.callbacks.snapshot_ctx = a;
	a->terminal = isatty(STDERR_FILENO);
	if (a->progress || (a->terminal && !a->quiet))
		a->opts.callbacks.on_progress = on_progress;
	a->opts.callbacks.progress_ctx = a;
	rc = ptc_record_args_places(a, &err);
	truth.path = a->truth_path;
	truth.hash = a->truth_hash;
	if (!rc)
		rc = ptc_truth_file_open(&truth, &err);
	if (a->truth_path) {
		a->opts.callbacks.truth = ptc_truth_file_put;
		a->opts.callbacks.truth_ctx = &truth;
		a->opts.callbacks.lbr_truth = ptc_truth_file_note;
	}
	if (!rc)
		rc = ptc_record(&a->opts, &result, &err);
	clear_line(a);
	if (rc) {
		struct ptc_err ignored;

		(void)ptc_truth_file_close(&truth, false, &ignored);
		(void)ptc_say_err(&err);
		code = ptc_outcome_failure(&a->opts, &err);
	} else if (ptc_truth_file_close(&truth, true, &err)) {
		(void)ptc_say_err(&err);
		code = a->opts.target.argv ? PTC_EXIT_PTCAP : PTC_EXIT_FAIL;
	} else {
		if (!a->quiet || ptc_outcome_lost(&result))
			summary(a, &result);
		else
			ptc_outcome_say_missing(&result);
		code = ptc_outcome_code(&a->opts, &result, a->strict, waker.sig);
		if (a->buildid_cache && !ptc_buildid_cache_fill(a->opts.output.path, a->quiet) &&
		    code == PTC_EXIT_OK)
			code = a->opts.target.argv ? PTC_EXIT_PTCAP : PTC_EXIT_FAIL;
	}
	(void)close(waker.fd);
	ptc_record_args_release(a);
	return code;
}

int ptc_cmd_record(int argc, char **argv)
{
	struct ptc_record_args a = PTC_RECORD_ARGS_INIT;
	const int code = ptc_record_args_parse(argc, argv, &a);

	return code >= 0 ? code : ptc_recording_run(&a, argv);
}
