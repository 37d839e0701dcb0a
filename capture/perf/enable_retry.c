/* SPDX-License-Identifier: MIT */
#include "capture/perf/enable_retry.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define NS_PER_MS 1000000

/*
 * Delays in ms, each from the previous one. They allow for ten times a normal thread creation, for
 * one on a busy machine, and for one on a machine that swaps.
 */
static const unsigned int wait_ms[] = { 10, 90, 900 };
enum { PASSES = sizeof(wait_ms) / sizeof(wait_ms[0]) };

int ptc_again_open(struct ptc_again *a, struct ptc_err *err)
{
	*a = (struct ptc_again){ timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				 PASSES };
	if (a->fd < 0)
		return ptc_fail_sys(err, errno, "cannot create a timer");
	return 0;
}

void ptc_again_release(struct ptc_again *a)
{
	if (a->fd >= 0)
		(void)close(a->fd);
	*a = (struct ptc_again)PTC_AGAIN_INIT;
}

static void wait_for(struct ptc_again *a, size_t pass)
{
	struct itimerspec t = { .it_value = { 0, 0 } };

	a->pass = pass;
	if (pass < PASSES)
		t.it_value.tv_nsec = (long)wait_ms[pass] * NS_PER_MS;
	(void)timerfd_settime(a->fd, 0, &t, NULL);
}

void ptc_again_begin(struct ptc_again *a)
{
	if (a->fd >= 0 && a->pass)
		wait_for(a, 0);
}

bool ptc_again_due(struct ptc_again *a)
{
	uint64_t n;

	if (a->fd < 0 || read(a->fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return false;
	wait_for(a, a->pass + 1);
	return true;
}
