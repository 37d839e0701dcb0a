/* SPDX-License-Identifier: MIT */
#include "capture/session/loop.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "capture/session/caller_thread.h"
#include "capture/session/capabilities.h"
#include "capture/session/live_targets.h"

enum {
	ASK_AGAIN_MS = 20, /* a request to stop or leave is repeated until the source reacts */
	TEND_MS = 500,
	/* limit of repeated copies; a forked task may start tracing during the pause */
	COPIES_MAX = 100,
	NS_PER_MS = 1000000,
};

static const uint64_t NEVER = UINT64_MAX;
static const uint64_t PROGRESS_NS = 1000000000;

/* Indexes of polled descriptors of the drain thread, after the rings. */
enum { FD_END, FD_WISH, FD_HELD, FD_OTHERS };

/* --- drain thread: clock --- */

static void start_clock(struct ptc_loop *l)
{
	l->start_ns = ptc_monotonic_ns();
	l->tell_ns = l->opts->callbacks.on_progress ? l->start_ns + PROGRESS_NS : NEVER;
	l->stop_ns = l->opts->range.max_ns ? l->start_ns + l->opts->range.max_ns : NEVER;
	if (l->stop_ns < l->start_ns) /* overflow */
		l->stop_ns = NEVER;
	l->take_ns = NEVER;
	if (l->opts->snapshot.after_ns || l->opts->snapshot.every_ns)
		l->take_ns = l->start_ns + (l->opts->snapshot.after_ns ?
						    l->opts->snapshot.after_ns :
						    l->opts->snapshot.every_ns);
	if (l->take_ns < l->start_ns)
		l->take_ns = NEVER;
}

static uint64_t next_ns(const struct ptc_loop *l)
{
	const uint64_t next = l->tell_ns < l->stop_ns ? l->tell_ns : l->stop_ns;

	return next < l->take_ns ? next : l->take_ns;
}

static int poll_timeout(const struct ptc_loop *l)
{
	const int most = l->source->ops->tend ? TEND_MS : -1;
	const uint64_t next = next_ns(l);
	uint64_t now;

	if (l->more)
		return 0;
	if (l->asked || l->pausing)
		return ASK_AGAIN_MS;
	if (next == NEVER)
		return most;
	now = ptc_monotonic_ns();
	if (next <= now)
		return 0;
	return next - now > (uint64_t)(most < 0 ? INT_MAX : most) * NS_PER_MS ?
		       most :
		       (int)((next - now) / NS_PER_MS) + 1;
}

static void tell_progress(struct ptc_loop *l, uint64_t now)
{
	struct ptc_progress p = { .aux_bytes = l->drain->aux_bytes };

	if (l->source->ops->progress)
		l->source->ops->progress(l->source, &p);
	p.elapsed_ns = now - l->start_ns;
	ptc_relay_progress(&l->relay, &p);
	l->tell_ns = now + PROGRESS_NS;
}

/* Requests a snapshot. @since_ns: CLOCK_MONOTONIC of the request. */
static void request_pause(struct ptc_loop *l, uint64_t since_ns)
{
	l->pausing = true;
	if (!l->requested_ns || since_ns < l->requested_ns)
		l->requested_ns = since_ns;
}

static void want(struct ptc_loop *l, enum ptc_asked asked)
{
	if (l->asked < asked)
		l->asked = asked;
}

static void look_at_clock(struct ptc_loop *l)
{
	const uint64_t now = next_ns(l) == NEVER ? 0 : ptc_monotonic_ns();

	if (now >= l->tell_ns && !l->asked)
		tell_progress(l, now);
	if (now >= l->stop_ns) {
		l->stop_ns = NEVER;
		l->limited = true;
		want(l, PTC_ASKED_STOP);
	}
	if (now >= l->take_ns) {
		request_pause(l, l->take_ns);
		l->take_ns = l->opts->snapshot.every_ns ? now + l->opts->snapshot.every_ns : NEVER;
	}
}

/* --- drain thread: rings and source --- */

static void forward_request_to_source(struct ptc_loop *l)
{
	if (l->asked == PTC_ASKED_STOP)
		l->source->ops->stop(l->source);
	if (l->asked == PTC_ASKED_LEAVE)
		l->source->ops->leave(l->source);
}

/* Drains one round. If the trace has @ended, drains until nothing is left. */
static int drain_once(struct ptc_loop *l, bool ended, bool snapshot)
{
	int rc;

	do
		rc = ptc_drain_round(l->drain, ended, snapshot && !l->series, &l->more, &l->err);
	while (!rc && ended && l->more);
	if (!rc && snapshot && l->series)
		rc = ptc_series_copy(l->series, &l->err);
	return rc;
}

/* Returns true if a trace continued during the copy. A series then copies late records, too. */
static bool is_stale(struct ptc_loop *l)
{
	return l->series && l->source->ops->went_on && l->source->ops->went_on(l->source);
}

static int drain(struct ptc_loop *l, bool ended, bool snapshot)
{
	unsigned int copies = 0;
	int rc;

	do {
		if (copies++ == COPIES_MAX)
			return ptc_fail(&l->err, PTC_E_BUSY,
					"cannot take a snapshot: the trace keeps running although "
					"it was disabled %d times",
					COPIES_MAX);
		rc = drain_once(l, ended, snapshot);
	} while (!rc && snapshot && is_stale(l));
	return rc;
}

/*
 * Finishes a snapshot. The rings may run again by now. @before: bytes of trace in the file before
 * the snapshot.
 */
static int taken(struct ptc_loop *l, uint64_t before)
{
	uint64_t bytes = l->drain->aux_bytes - before;
	const int rc = l->series ? ptc_series_write(l->series, &bytes, &l->err) : 0;

	if (rc)
		return rc;
	l->snapshots++;
	l->taken.bytes = bytes;
	if (!l->taken.off_ns) /* the end answers all requests */
		l->taken.wanted = l->wanted;
	ptc_relay_snapshot(&l->relay, &l->taken);
	if (l->opts->snapshot.count && l->snapshots >= l->opts->snapshot.count) {
		want(l, PTC_ASKED_STOP);
		forward_request_to_source(l);
	}
	return 0;
}

/* The recording has ended: does the user want a last snapshot? */
static bool wants_last(const struct ptc_loop *l)
{
	const struct ptc_record_opts *o = l->opts;

	if (!o->snapshot.enabled || (o->snapshot.count && l->snapshots >= o->snapshot.count))
		return false;
	return l->asked || l->last ? !o->snapshot.no_last : !o->snapshot.no_exit;
}

/* Returns true if something has requested a snapshot that was not taken yet. */
static bool is_asked_for(const struct ptc_loop *l)
{
	const struct ptc_record_opts *o = l->opts;

	return o->snapshot.enabled && !l->asked &&
	       !(o->snapshot.count && l->snapshots >= o->snapshot.count) && l->source->ops->asks &&
	       l->source->ops->asks(l->source);
}

/* Reads the caller's requests. */
static struct ptc_wish take_wish(struct ptc_loop *l)
{
	const struct ptc_wish wish = ptc_relay_wish(&l->relay);

	if (wish.snapshots > l->wanted && l->opts->snapshot.enabled)
		request_pause(l, wish.since_ns);
	l->wanted = wish.snapshots;
	l->last |= wish.last;
	l->asks = wish.asks;
	want(l, wish.asked);
	return wish;
}

static bool wants_end(void *ctx)
{
	struct ptc_loop *l = ctx;
	const uint64_t before = l->asks;

	return take_wish(l).over || l->asks != before;
}

/*
 * Returns true if the snapshot gets the states of live processes. The caller's request to end adds
 * them for opts->crash, too.
 */
static bool wants_live_states(const struct ptc_loop *l, bool ended)
{
	const struct ptc_record_snapshot *o = &l->opts->snapshot;

	return l->series && (ended ? l->asked && (o->stacks || o->crash) : o->stacks);
}

/* Returns true if the source has the states of live processes. */
static bool has_live_states(const struct ptc_loop *l, bool ended)
{
	return l->source->ops->lives && (!ended || l->source->emulated);
}

/* Adds the states that the source has: those of the moment at which the trace stopped. */
static int take_live_states(struct ptc_loop *l, bool ended)
{
	if (!wants_live_states(l, ended) || !has_live_states(l, ended))
		return 0;
	return l->source->ops->lives(l->source, &l->series->states, &l->states, &l->err);
}

/*
 * Reads states with ptrace. The processes never stood still for the copy, so the trace need not be
 * off here, and waiting for threads to stop costs no trace.
 */
static int read_live_states(struct ptc_loop *l, bool ended)
{
	const struct ptc_live_caller caller = { l->relay.wish_fd, wants_end, l };

	if (!wants_live_states(l, ended) || has_live_states(l, ended))
		return 0;
	if (ended && l->source->ops->part)
		l->source->ops->part(l->source);
	return ptc_live_targets_put(&l->series->states, l->opts, l->command, &caller, &l->states,
				    &l->missing, &l->err);
}

/* Pauses the trace if a snapshot is due. Returns true once the trace stands still. */
static bool pause_trace(struct ptc_loop *l)
{
	const struct ptc_source_ops *ops = l->source->ops;
	const bool paused = l->pausing && !l->asked && ops->pause(l->source);

	l->taken = (struct ptc_taken){ .n = 0 };
	if (!paused)
		return false;
	l->paused_ns = ptc_monotonic_ns();
	l->taken.stopped_after_ns = l->paused_ns - l->requested_ns;
	l->taken.wanted = l->wanted; /* later requests get a snapshot of their own */
	l->taken.behind_ns = ops->behind ? ops->behind(l->source) : 0;
	return true;
}

static void resume_trace(struct ptc_loop *l)
{
	l->pausing = false;
	l->requested_ns = 0;
	l->source->ops->resume(l->source);
	l->taken.off_ns = ptc_monotonic_ns() - l->paused_ns;
}

/*
 * Drains, and takes a snapshot if one is due. The ended trace becomes the last snapshot. No other
 * is taken once a stop or leave was requested.
 */
static int drain_or_take(struct ptc_loop *l, bool ended)
{
	const bool paused = !ended && pause_trace(l);
	const bool take = ended ? wants_last(l) || is_asked_for(l) : paused;
	const uint64_t before = l->drain->aux_bytes;
	int rc;

	rc = drain(l, ended, take);
	if (!rc && take)
		rc = take_live_states(l, ended);
	if (paused)
		resume_trace(l);
	if (!rc && take)
		rc = read_live_states(l, ended);
	if (!rc && take)
		rc = taken(l, before);
	if (l->drain->full && !l->asked) { /* the disk is full */
		want(l, PTC_ASKED_STOP);
		forward_request_to_source(l);
	}
	return rc;
}

/*
 * Returns true if a thread waits for a snapshot. After a stop or leave request the descriptor is no
 * longer polled.
 */
static bool is_held(struct ptc_loop *l)
{
	struct pollfd *held = &l->fds[l->drain->n + FD_HELD];

	if (l->asked)
		held->fd = -1;
	return held->fd >= 0 && held->revents & POLLIN &&
	       (!l->source->ops->asks || l->source->ops->asks(l->source));
}

static int poll_once(struct ptc_loop *l, bool *ret_over)
{
	const int n = poll(l->fds, (nfds_t)l->drain->n + FD_OTHERS, poll_timeout(l));

	if (n < 0 && errno != EINTR)
		return ptc_fail_sys(&l->err, errno, "cannot poll the rings");
	if (!n && l->source->ops->tend)
		l->source->ops->tend(l->source);
	ptc_drain_woken(l->drain, l->fds);
	*ret_over = l->fds[l->drain->n + FD_WISH].revents & POLLIN && take_wish(l).over;
	look_at_clock(l);
	if (is_held(l))
		request_pause(l, ptc_monotonic_ns());
	forward_request_to_source(l);
	return 0;
}

/* Waits until @wanted is true or the caller gives up. Returns the caller's requests. */
static struct ptc_wish wait_for(struct ptc_loop *l, bool (*wanted)(const struct ptc_wish *w))
{
	struct pollfd fd = { .fd = l->relay.wish_fd, .events = POLLIN };
	struct ptc_wish wish = take_wish(l);

	while (!wanted(&wish) && !wish.over) {
		(void)poll(&fd, 1, -1);
		wish = take_wish(l);
	}
	return wish;
}

static bool is_go(const struct ptc_wish *w)
{
	return w->go;
}

static bool is_heard(const struct ptc_wish *w)
{
	return w->heard;
}

/*
 * Waits for the caller's pending requests. ^C also reaches the recorded program, which may end
 * before the caller reports the ^C. These requests decide whether a last snapshot is taken.
 */
static void hear_caller(struct ptc_loop *l)
{
	if (!l->series || l->asked)
		return;
	ptc_relay_ended(&l->relay);
	(void)wait_for(l, is_heard);
}

static int record(struct ptc_loop *l)
{
	struct pollfd *end = &l->fds[l->drain->n + FD_END];
	bool ended = false, over = false;
	int rc = 0;

	end->fd = l->source->ops->end_fd(l->source);
	if (l->source->ops->held_fd)
		l->fds[l->drain->n + FD_HELD].fd = l->source->ops->held_fd(l->source);
	start_clock(l);
	while (!rc && !ended) {
		rc = poll_once(l, &over);
		if (over)
			break;
		ended = end->revents & (POLLIN | POLLHUP);
		if (ended && l->source->ops->quiesce)
			l->source->ops->quiesce(l->source);
		if (ended)
			hear_caller(l);
		if (!rc)
			rc = drain_or_take(l, ended);
	}
	return rc;
}

static void *run_drain_thread(void *arg)
{
	struct ptc_loop *l = arg;

	(void)sem_post(&l->begun);
	if (!wait_for(l, is_go).over) {
		l->rc = l->rights ? ptc_rights_drop(*l->rights, &l->err) : 0;
		if (!l->rc)
			l->rc = record(l);
	}
	ptc_relay_done(&l->relay);
	return NULL;
}

/* --- start and end, by the caller's thread --- */

static int no_priority(int sys, unsigned int priority, struct ptc_err *err)
{
	(void)ptc_fail(err, PTC_E_PERM,
		       "cannot set real-time priority %u: %s; use CAP_SYS_NICE or `ulimit -r %u`",
		       priority, strerror(sys), priority);
	return err->code;
}

/*
 * Creates the drain thread with all signals blocked: signals belong to the caller. Returns after
 * the thread has begun. A starting thread takes locks of the C library or of a sanitizer. A child
 * forked at that time would find these locks held.
 */
static int create(struct ptc_loop *l, const pthread_attr_t *attr)
{
	sigset_t all, old;
	int sys;

	(void)sem_init(&l->begun, 0, 0);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	sys = pthread_create(&l->thread, attr, run_drain_thread, l);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	l->runs = !sys;
	while (l->runs && sem_wait(&l->begun) && errno == EINTR)
		;
	return sys;
}

static int start_thread(struct ptc_loop *l, struct ptc_err *err)
{
	const struct sched_param param = { .sched_priority = (int)l->opts->rings.realtime };
	pthread_attr_t attr;
	int sys = pthread_attr_init(&attr);

	if (sys)
		return ptc_fail_sys(err, sys, "cannot start a thread");
	if (l->opts->rings.realtime) {
		(void)pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		(void)pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
		sys = pthread_attr_setschedparam(&attr, &param);
	}
	if (!sys)
		sys = create(l, &attr);
	(void)pthread_attr_destroy(&attr);
	if (sys && l->opts->rings.realtime)
		return no_priority(sys, l->opts->rings.realtime, err);
	return sys ? ptc_fail_sys(err, sys, "cannot start a thread") : 0;
}

int ptc_loop_init(struct ptc_loop *l, const struct ptc_record_opts *opts, struct ptc_source *source,
		  struct ptc_drain *drain, struct ptc_err *err)
{
	const struct ptc_source_ring *rings;
	size_t i;
	int rc;

	*l = (struct ptc_loop){ .opts = opts, .source = source, .drain = drain };
	rc = ptc_relay_init(&l->relay, err);
	if (rc)
		return rc;
	l->fds = calloc(drain->n + FD_OTHERS, sizeof(*l->fds));
	if (!l->fds)
		return ptc_fail_mem(err);
	(void)source->ops->rings(source, &rings);
	for (i = 0; i < drain->n; i++)
		l->fds[i] = (struct pollfd){ .fd = rings[i].fd, .events = POLLIN };
	l->fds[drain->n + FD_END] = (struct pollfd){ .fd = -1, .events = POLLIN };
	l->fds[drain->n + FD_HELD] = (struct pollfd){ .fd = -1, .events = POLLIN };
	l->fds[drain->n + FD_WISH] = (struct pollfd){ .fd = l->relay.wish_fd, .events = POLLIN };
	return start_thread(l, err);
}

static void join(struct ptc_loop *l)
{
	if (!l->runs)
		return;
	(void)pthread_join(l->thread, NULL);
	(void)sem_destroy(&l->begun);
	l->runs = false;
}

static void end_at_once(struct ptc_loop *l)
{
	if (l->runs)
		ptc_relay_ask(&l->relay, &(struct ptc_wish){ .over = true });
	join(l);
}

void ptc_loop_release(struct ptc_loop *l)
{
	end_at_once(l);
	ptc_relay_release(&l->relay);
	free(l->fds);
	l->fds = NULL;
}

int ptc_loop_run(struct ptc_loop *l, pid_t pid, struct ptc_err *err)
{
	const struct ptc_caller caller = { l->opts, l->source, &l->relay, pid };
	int rc;

	l->command = l->opts->target.argv && !l->source->emulated ? pid : 0;
	ptc_relay_ask(&l->relay, &(struct ptc_wish){ .go = true,
						     .snapshots = l->source->early_snapshots,
						     .since_ns = ptc_monotonic_ns(),
						     .last = l->source->early_last });
	rc = ptc_caller_serve(&caller, err);
	if (rc) {
		end_at_once(l);
		return rc;
	}
	join(l);
	l->ran_ns = ptc_monotonic_ns() - l->start_ns;
	if (l->rc)
		*err = l->err;
	return l->rc;
}
