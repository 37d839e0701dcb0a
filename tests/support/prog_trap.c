/* SPDX-License-Identifier: MIT */
/* int3 in both forms, which retires and then signals; and a SIGTRAP sent by a process. */
#include "prog.h"

PROG_START;

enum { SIGTRAP_ = 5 };

static volatile int seen;

static void count(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
}

int prog_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	/*
	 * KSA_NODEFER for refstep: the trap after a step is a SIGTRAP too. If SIGTRAP is blocked,
	 * as in its handler, the kernel resets the handler.
	 */
	sys_handle(SIGTRAP_, count, KSA_NODEFER);
	__asm__ volatile("int3");
	seen++;
	__asm__ volatile("int3; int3");
	__asm__ volatile(".byte 0xcd, 3"); /* int 3, the two-byte form */
	sys_kill_self(SIGTRAP_);
	return seen == 1 + 5 * 5 ? 0 : seen;
}
