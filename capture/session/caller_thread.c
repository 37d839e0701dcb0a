/* SPDX-License-Identifier: MIT */
#include "capture/session/caller_thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "capture/session/snapshot_files.h"
#include "capture/soft/ground_truth.h"

/* Indexes of polled descriptors. */
enum { FD_WAKE, FD_TRUTH, FD_NEWS, FD_ALL };

static void on_wake(const struct ptc_caller *c)
{
	struct ptc_wish wish = { .since_ns = ptc_monotonic_ns() };

	switch (c->opts->callbacks.on_wake(c->opts->callbacks.wake_ctx, c->pid)) {
	case PTC_WAKE_LEAVE:
		wish.asked = PTC_ASKED_LEAVE;
		break;
	case PTC_WAKE_SNAPSHOT:
		wish.snapshots = 1;
		break;
	case PTC_WAKE_LAST:
		wish.last = true;
		break;
	case PTC_WAKE_GO_ON:
		return;
	}
	ptc_relay_ask(c->relay, &wish);
}

/* Runs on_wake for every pending wake-up, then reports that there are no more. */
static void tell_ended(const struct ptc_caller *c)
{
	struct pollfd fd = { .fd = c->opts->callbacks.wake_fd, .events = POLLIN };

	while (poll(&fd, 1, 0) == 1 && fd.revents & POLLIN)
		on_wake(c);
	ptc_relay_ask(c->relay, &(struct ptc_wish){ .heard = true });
}

/* Calls on_snapshot for a struct ptc_taken without path. False: out of memory. */
static bool tell_snapshot(const struct ptc_record_opts *o, const uint8_t *taken)
{
	struct ptc_taken t;
	char *path;
	bool ok;

	memcpy(&t, taken, sizeof(t));
	path = o->snapshot.series ? ptc_series_path(o, t.n) : NULL;
	ok = path || !o->snapshot.series;
	t.path = path ? path : o->output.path;
	if (ok)
		o->callbacks.on_snapshot(o->callbacks.snapshot_ctx, &t);
	free(path);
	return ok;
}

/* Runs the callbacks for news from the drain thread. Returns true if the thread is done. */
static bool tell_news(const struct ptc_caller *c, struct ptc_err *err, int *rc)
{
	const struct ptc_record_opts *o = c->opts;
	struct ptc_news news = ptc_relay_news(c->relay);
	const size_t n = news.taken.len / sizeof(struct ptc_taken);
	bool ok = !ptc_buf_failed(&news.taken);
	size_t i;

	if (news.has_progress && o->callbacks.on_progress)
		o->callbacks.on_progress(o->callbacks.progress_ctx, &news.progress);
	for (i = 0; i < n && ok && o->callbacks.on_snapshot; i++)
		ok = tell_snapshot(o, news.taken.bytes + i * sizeof(struct ptc_taken));
	if (!ok)
		*rc = ptc_fail_mem(err);
	if (news.ended)
		tell_ended(c);
	ptc_buf_release(&news.taken);
	return news.done;
}

static int drain_truth(const struct ptc_caller *c, struct ptc_err *err)
{
	const struct ptc_record_opts *o = c->opts;

	return c->source->truth ?
		       ptc_truth_drain(c->source->truth, o->callbacks.truth, o->callbacks.lbr_truth,
				       o->callbacks.truth_ctx, err) :
		       0;
}

int ptc_caller_serve(const struct ptc_caller *c, struct ptc_err *err)
{
	struct pollfd fds[FD_ALL] = {
		[FD_WAKE] = { .fd = c->opts->callbacks.wake_fd, .events = POLLIN },
		[FD_TRUTH] = { .fd = c->source->truth ? ptc_truth_fd(c->source->truth) : -1,
			       .events = POLLIN },
		[FD_NEWS] = { .fd = c->relay->news_fd, .events = POLLIN },
	};
	bool done = false;
	int rc = 0;

	while (!rc && !done) {
		if (poll(fds, FD_ALL, -1) < 0) {
			if (errno != EINTR)
				rc = ptc_fail_sys(err, errno, "cannot poll");
			continue;
		}
		if (fds[FD_WAKE].revents & POLLIN)
			on_wake(c);
		if (fds[FD_NEWS].revents)
			done = tell_news(c, err, &rc);
		if (!rc)
			rc = drain_truth(c, err);
	}
	return rc;
}
