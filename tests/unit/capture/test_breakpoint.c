/* SPDX-License-Identifier: MIT */
/*
 * Description: breakpoints that watch places in this very process. Skipped where the kernel does
 * not allow them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/perf/breakpoint.h"
#include "capture/perf/snapshot_trigger.h"

__attribute__((noinline)) static void place(void)
{
	__asm__ volatile("");
}

static struct ptc_cpus cpus = PTC_CPUS_INIT;
static struct ptc_err err;

/*
 * Returns the result of setting a breakpoint at place() in this thread; @opener opens the events.
 */
static int watch(struct ptc_breakpoints *b, const struct ptc_opener *opener, uint64_t count,
		 const char *file)
{
	const struct ptc_crossing at = { { file, (uint64_t)place }, count };
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	const struct ptc_record_opts o = {
		.target.tids = &tid, .target.ntids = 1, .snapshot.at = &at, .snapshot.nat = 1
	};

	cr_assert_eq(ptc_cpus_online(&cpus, "", &err), 0);
	return ptc_breakpoints_open(b, opener, &o, &cpus, 0, &err);
}

static bool asks(const struct ptc_breakpoints *b)
{
	struct pollfd fd = { .fd = b->epoll_fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void release(struct ptc_breakpoints *b)
{
	ptc_breakpoints_release(b);
	ptc_cpus_release(&cpus);
}

/* Skips the test if the kernel or the machine offers no breakpoints. */
static void watch_here(struct ptc_breakpoints *b, uint64_t count)
{
	const int rc = watch(b, &ptc_opener_kernel, count, NULL);

	if (!rc)
		return;
	release(b);
	cr_assert(rc == PTC_E_PERM || rc == PTC_E_UNSUPPORTED, "%s", err.msg);
	cr_skip_test("%s", err.msg);
}

Test(breakpoint, each_time_that_counts_asks_once)
{
	struct ptc_breakpoints b = PTC_BREAKPOINTS_INIT;
	uint64_t first, second;

	watch_here(&b, 1);
	cr_assert(!asks(&b) && !ptc_breakpoints_take(&b, &first) && !first);
	place();
	cr_assert(asks(&b));
	cr_assert_eq(ptc_breakpoints_take(&b, &first), 1);
	cr_assert(first && !asks(&b));
	for (int i = 0; i < 1000; i++) { /* the ring wraps around several times */
		place();
		cr_assert_eq(ptc_breakpoints_take(&b, &second), 1, "round %d", i);
		cr_assert_gt(second, first);
		first = second;
	}
	release(&b);
}

/* The delay of the stop is reported once for each trigger, or it is reported as unknown. */
Test(breakpoint, how_far_behind)
{
	struct ptc_clock clock = { .kernel = false };
	struct ptc_trigger t = PTC_TRIGGER_INIT;

	watch_here(&t.breakpoints, 1);
	t.clock = &clock;
	ptc_trigger_pause(&t);
	cr_assert_eq(t.behind_ns, 0);
	place();
	ptc_trigger_pause(&t);
	cr_assert_eq(t.behind_ns, PTC_BEHIND_UNKNOWN);
	ptc_trigger_pause(&t);
	cr_assert_eq(t.behind_ns, 0);
	clock.kernel = true; /* a time close to the maximum */
	clock.conv = (struct ptc_time_conv){ .mult = 1, .zero = UINT64_MAX / 2 };
	place();
	ptc_trigger_pause(&t);
	cr_assert(t.behind_ns > UINT64_MAX / 4 && t.behind_ns < PTC_BEHIND_UNKNOWN);
	ptc_trigger_release(&t);
	ptc_cpus_release(&cpus);
}

/* The trace is off during a pause: a snapshot for such a hit would not contain the place. */
Test(breakpoint, what_comes_in_a_pause_asks_for_none)
{
	struct ptc_clock clock = { .kernel = false };
	struct ptc_trigger t = PTC_TRIGGER_INIT;

	watch_here(&t.breakpoints, 1);
	t.clock = &clock;
	place();
	cr_assert(ptc_trigger_asks(&t));
	ptc_trigger_pause(&t);
	cr_assert(!ptc_trigger_asks(&t));
	place();
	place();
	ptc_trigger_resume(&t);
	cr_assert(!ptc_trigger_asks(&t));
	cr_assert_eq(t.unseen, 2);
	place();
	cr_assert(ptc_trigger_asks(&t));
	ptc_trigger_pause(&t);
	ptc_trigger_resume(&t);
	cr_assert_eq(t.unseen, 2);
	cr_assert_eq(t.came, 4);
	ptc_trigger_release(&t);
	ptc_cpus_release(&cpus);
}

Test(breakpoint, it_counts)
{
	struct ptc_breakpoints b = PTC_BREAKPOINTS_INIT;
	size_t n = 0, i;
	uint64_t time;

	watch_here(&b, 10);
	for (i = 0; i < 1000; i++)
		place();
	n = ptc_breakpoints_take(&b, &time);
	/* Each CPU counts separately and keeps its remainder. */
	cr_assert(n <= 100 && n + cpus.n >= 100, "%zu times", n);
	release(&b);
}

static int full(void *ctx, struct perf_event_attr *attr, const struct ptc_perf_where *at)
{
	(void)attr;
	(void)at;
	return *(const int *)ctx;
}

Test(breakpoint, what_cannot_be_is_said)
{
	static const struct {
		int sys;
		const char *word;
	} table[] = {
		{ -ENOSPC, "debugger" },
		{ -EOPNOTSUPP, "does not support breakpoint events" },
		{ -EACCES, "--at" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int sys = table[i].sys;
		const struct ptc_opener opener = { full, &sys };
		struct ptc_breakpoints b = PTC_BREAKPOINTS_INIT;

		cr_assert(watch(&b, &opener, 1, NULL) < 0);
		cr_assert(strstr(err.msg, table[i].word), "%s", err.msg);
		release(&b);
	}
}

Test(breakpoint, a_file_that_is_not_mapped_has_no_place)
{
	struct ptc_breakpoints b = PTC_BREAKPOINTS_INIT;

	cr_assert_eq(watch(&b, &ptc_opener_kernel, 1, "/nowhere"), PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, "/nowhere"));
	release(&b);
}
