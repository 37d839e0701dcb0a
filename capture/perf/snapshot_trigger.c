/* SPDX-License-Identifier: MIT */
#include "capture/perf/snapshot_trigger.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

#include "base/err.h"

int ptc_trigger_start(struct ptc_trigger *t, const struct ptc_record_opts *opts,
		      const struct ptc_clock *clock, const struct ptc_cpus *cpus, pid_t command,
		      struct ptc_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int rc = ptc_watch_start(&t->watch, opts, clock, command, err);

	t->clock = clock;
	if (!rc)
		rc = ptc_breakpoints_open(&t->breakpoints, &ptc_opener_kernel, opts, cpus, command,
					  err);
	if (!rc && t->watch.held_fd >= 0 && t->breakpoints.epoll_fd >= 0 &&
	    epoll_ctl(t->breakpoints.epoll_fd, EPOLL_CTL_ADD, t->watch.held_fd, &ev))
		rc = ptc_fail_sys(err, errno, "cannot wait for signals");
	return rc;
}

void ptc_trigger_release(struct ptc_trigger *t)
{
	ptc_watch_release(&t->watch);
	ptc_breakpoints_release(&t->breakpoints);
}

int ptc_trigger_fd(const struct ptc_trigger *t)
{
	return t->breakpoints.epoll_fd >= 0 ? t->breakpoints.epoll_fd : t->watch.held_fd;
}

bool ptc_trigger_asks(const struct ptc_trigger *t)
{
	struct pollfd held = { .fd = t->watch.held_fd, .events = POLLIN };

	return ptc_breakpoints_pending(&t->breakpoints) || poll(&held, 1, 0) == 1;
}

void ptc_trigger_pause(struct ptc_trigger *t)
{
	uint64_t came_ns, now_ns;
	size_t n;

	ptc_watch_pause(&t->watch);
	t->behind_ns = 0;
	n = ptc_breakpoints_take(&t->breakpoints, &came_ns);
	t->came += n;
	if (!n)
		return;
	if (!t->clock->kernel) {
		t->behind_ns = PTC_BEHIND_UNKNOWN;
		return;
	}
	now_ns = ptc_clock_ns(t->clock);
	t->behind_ns = now_ns > came_ns ? now_ns - came_ns : 0;
}

void ptc_trigger_resume(struct ptc_trigger *t)
{
	uint64_t came_ns;
	const size_t n = ptc_breakpoints_take(&t->breakpoints, &came_ns);

	t->came += n;
	t->unseen += n;
	ptc_watch_resume(&t->watch);
}
