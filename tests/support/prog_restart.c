/* SPDX-License-Identifier: MIT */
/*
 * Blocks in read until a timer's handler writes the awaited byte. With SA_RESTART the
 * kernel rewinds to the system call instruction, which runs a second time; without it, read
 * fails.
 */
#include "prog.h"

PROG_START;

enum { SIGALRM_ = 14, EINTR_ = 4 };

static volatile int seen;
static int ends[2];

static void feed(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
	sys_write(ends[1], "x", 1);
}

static long wait_for_it(unsigned long flags)
{
	const struct {
		long interval_s, interval_us, value_s, value_us;
	} timer = { 0, 0, 0, 20000 };
	char c;

	sys_handle(SIGALRM_, feed, flags);
	sys3(SYS_setitimer, 0, (long)&timer, 0);
	return sys3(SYS_read, ends[0], (long)&c, 1);
}

int prog_main(int argc, char **argv)
{
	long n;

	(void)argc;
	(void)argv;
	if (sys3(SYS_pipe, (long)ends, 0, 0))
		return 2;
	if (wait_for_it(KSA_RESTART) != 1)
		return 3;
	n = wait_for_it(0);
	return seen == 2 * SIGALRM_ && (n == -EINTR_ || n == 1) ? 0 : 1;
}
