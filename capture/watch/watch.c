/* SPDX-License-Identifier: MIT */
#include "capture/watch/watch.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/watch/watcher.h"

/* --- in the watcher process --- */

static void run_watcher_process(void *ctx)
{
	struct ptc_watch *w = ctx;
	struct ptc_step_shared *sh = w->process.shared;
	const struct ptc_watcher watcher = {
		.opts = w->opts,
		.clock = w->clock,
		.shared = sh,
		.states = &w->states,
		.held_fd = w->held_fd,
	};

	ptc_step_process_settle(&w->process);
	sh->rc = ptc_watcher_seize(&watcher, w->command, &sh->err);
	sh->pid = sh->rc ? 0 : getpid();
	ptc_step_process_tell(&w->process);
	if (!sh->rc)
		sh->rc = ptc_watcher_run(&watcher, &sh->err);
	sh->done = true;
}

/*
 * Called when ptcap is gone. Does nothing: the watcher checks its request and lets held threads
 * continue.
 */
static void orphan(void *ctx)
{
	(void)ctx;
}

/* --- in ptcap --- */

static int init_watch_resources(struct ptc_watch *w, struct ptc_err *err)
{
	int rc = ptc_step_process_init(&w->process, err);

	if (!rc && w->opts->snapshot.crash)
		rc = ptc_states_open(&w->states, err);
	if (rc || !w->opts->snapshot.enabled)
		return rc;
	w->held_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w->held_fd < 0 ? ptc_fail_sys(err, errno, "cannot create an eventfd") : 0;
}

int ptc_watch_start(struct ptc_watch *w, const struct ptc_record_opts *opts,
		    const struct ptc_clock *clock, pid_t command, struct ptc_err *err)
{
	const struct ptc_step_body body = {
		.name = "pt-watcher", .run = run_watcher_process, .orphan = orphan, .ctx = w
	};
	int rc;

	if (!opts->snapshot.crash && !opts->snapshot.on_signals)
		return 0;
	w->opts = opts;
	w->clock = clock;
	w->command = command;
	rc = init_watch_resources(w, err);
	if (!rc)
		rc = ptc_step_process_start(&w->process, &body, err);
	if (!rc)
		rc = ptc_step_process_started(&w->process, NULL, err);
	if (rc || w->process.shared->pid)
		return rc;
	*err = w->process.shared->err;
	return w->process.shared->rc;
}

void ptc_watch_pause(struct ptc_watch *w)
{
	eventfd_t ignored;

	w->holding = w->held_fd >= 0 && !eventfd_read(w->held_fd, &ignored);
}

void ptc_watch_resume(struct ptc_watch *w)
{
	if (w->holding)
		ptc_step_process_resume(&w->process);
	w->holding = false;
}

void ptc_watch_leave(struct ptc_watch *w)
{
	if (w->process.shared)
		ptc_step_process_ask(&w->process, PTC_WANT_LEAVE);
}

static int end_watcher(struct ptc_watch *w)
{
	const struct ptc_step_shared *sh = w->process.shared;
	int rc;

	if (!w->process.pid)
		return 0;
	rc = ptc_step_process_end(&w->process, &w->err);
	w->crashes = sh->crashes;
	w->handled = sh->handled;
	if (rc)
		return ptc_fail(&w->err, PTC_E_IO, "pt-watcher was killed");
	if (sh->rc)
		w->err = sh->err;
	return sh->rc;
}

int ptc_watch_end(struct ptc_watch *w, struct ptc_err *err)
{
	if (!w->ended)
		w->rc = end_watcher(w);
	w->ended = true;
	if (w->rc)
		*err = w->err;
	return w->rc;
}

void ptc_watch_release(struct ptc_watch *w)
{
	ptc_step_process_release(&w->process);
	ptc_states_release(&w->states);
	if (w->held_fd >= 0)
		(void)close(w->held_fd);
	*w = (struct ptc_watch)PTC_WATCH_INIT;
}
