/* SPDX-License-Identifier: MIT */
/* Description: whether debug registers work is found out without a trace of the child that tries
 * it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/host/debugreg_probe.h"

__attribute__((noinline)) static void place(void)
{
	__asm__ volatile("");
}

/* The kernel's count of an event of this thread, which has other code for the same registers. */
Test(debugreg_probe, events_agree)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uint64_t)(uintptr_t)place,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t count = 0;

	if (fd < 0)
		cr_skip_test("no event can be opened");
	place();
	cr_assert_eq(read(fd, &count, sizeof(count)), (ssize_t)sizeof(count));
	close(fd);
	cr_assert_eq(ptc_hwbreak_works(), count != 0);
}

Test(debugreg_probe, leaves_no_child)
{
	int status;

	(void)ptc_hwbreak_works();
	cr_assert_eq(waitpid(-1, &status, __WALL), -1);
	cr_assert_eq(errno, ECHILD);
}
