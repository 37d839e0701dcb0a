/* SPDX-License-Identifier: MIT */
/*
 * prog_wait [catch]: prints "ready", reads its input to the end, prints "done" and
 * exits with status 7. With "catch" it prints "caught" at SIGINT and SIGTERM
 * and continues. With "trap" it has a handler for SIGTRAP, which prints "trapped",
 * and blocks SIGTRAP. Each byte of its input unblocks SIGTRAP for a
 * moment, and loads the flags. (After a popf the kernel mistakes a debugger's trap
 * flag for the program's own flag, and would leave it set.)
 */
#include "prog.h"

PROG_START;

enum { SIGINT_ = 2, SIGTRAP_ = 5, SIGTERM_ = 15, BLOCK = 0, UNBLOCK = 1 };

static void caught(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	SAY("caught\n");
}

static void trapped(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	SAY("trapped\n");
}

static void mask_trap(int how)
{
	const uint64_t set = 1 << (SIGTRAP_ - 1);

	sys6(SYS_rt_sigprocmask, how, (long)&set, 0, 8, 0, 0);
}

int prog_main(int argc, char **argv)
{
	const int trap = argc > 1 && argv[1][0] == 't';
	char c;

	if (trap) {
		sys_handle(SIGTRAP_, trapped, KSA_RESTART);
		mask_trap(BLOCK);
	} else if (argc > 1) {
		sys_handle(SIGINT_, caught, KSA_RESTART);
		sys_handle(SIGTERM_, caught, KSA_RESTART);
	}
	SAY("ready\n");
	while (sys3(SYS_read, 0, (long)&c, 1) > 0) {
		if (trap) {
			mask_trap(UNBLOCK);
			mask_trap(BLOCK);
			__asm__ volatile("pushfq; popfq" ::: "memory", "cc");
			SAY("unblocked\n");
		}
	}
	SAY("done\n");
	return 7;
}
