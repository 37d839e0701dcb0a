/* SPDX-License-Identifier: MIT */
/*
 * Job control: a parent stops its child by two signals, sees the stop, continues the child, and
 * sees its end. Then the parent waits for a child that sends it an ignored signal: its read is
 * restarted twice before there is something to read.
 */
#include "prog.h"

PROG_START;

enum {
	SIGCHLD_ = 17,
	SIGCONT_ = 18,
	SIGSTOP_ = 19,
	SIGTSTP_ = 20,
	SIGURG_ = 23,
	WUNTRACED_ = 2,
	WCONTINUED_ = 8,
};

static long wait_for(long pid, int options)
{
	int status = 0;

	return sys6(SYS_wait4, pid, (long)&status, options, 0, 0, 0) == pid ? status : -1;
}

int prog_main(int argc, char **argv)
{
	static const int signals[] = { SIGSTOP_, SIGTSTP_, SIGSTOP_ };
	int ends[2], ready[2];
	long pid;
	size_t i;
	char c = 0;
	int spin;

	(void)argc;
	(void)argv;
	sys3(SYS_pipe, (long)ends, 0, 0);
	sys3(SYS_pipe, (long)ready, 0, 0);
	pid = sys6(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0);
	if (!pid) {
		sys3(SYS_setpgid, 0, 0, 0); /* an orphaned group would ignore SIGTSTP */
		sys_write(ready[1], "r", 1);
		while (sys3(SYS_read, ends[0], (long)&c, 1) != 1)
			;
		SAY("child ends\n");
		return c;
	}
	if (sys3(SYS_read, ready[0], (long)&c, 1) != 1)
		return 6;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sys3(SYS_kill, pid, signals[i], 0);
		if (wait_for(pid, WUNTRACED_) != (signals[i] << 8 | 0x7f))
			return 1;
		SAY("stopped\n");
		sys3(SYS_kill, pid, SIGCONT_, 0);
		if (wait_for(pid, WCONTINUED_) != 0xffff)
			return 2;
		SAY("continued\n");
	}
	c = 3;
	sys_write(ends[1], &c, 1);
	if (wait_for(pid, 0) != 3 << 8)
		return 3;
	pid = sys6(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0);
	if (!pid) {
		for (i = 0; i < 3; i++) {
			sys3(SYS_kill, sys3(SYS_getppid, 0, 0, 0), SIGURG_, 0);
			for (spin = 0; spin < 3000;
			     spin++) /* the parent gets its turn and sleeps */
				__asm__ volatile("nop");
		}
		sys_write(ends[1], "y", 1);
		return 4;
	}
	if (sys3(SYS_read, ends[0], (long)&c, 1) != 1 || c != 'y')
		return 4;
	return wait_for(pid, 0) == 4 << 8 ? 0 : 5;
}
