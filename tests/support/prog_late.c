/* SPDX-License-Identifier: MIT */
/*
 * Handlers that are called as plain functions before and after they become handlers, because an
 * emulator translates the code at the first call.
 */
#include "prog.h"

PROG_START;

enum { SIGUSR1_ = 10, SIGSEGV_ = 11 };

extern char load[], behind[];
static volatile int seen;

static void count(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
}

static void over(int sig, void *info, void *context)
{
	(void)info;
	seen += sig;
	if (context)
		*prog_saved_rip(context) += (uint64_t)(behind - load);
}

/* Faults in the middle of a block. */
static void fault(void)
{
	long one = 1;

	__asm__ volatile("	inc	%0\n"
			 ".globl load, behind\n"
			 "load:	movzbl	0, %%eax\n"
			 "behind:	inc	%0\n"
			 "	inc	%0\n"
			 : "+r"(one)
			 :
			 : "rax", "cc");
	seen += (int)one; /* 4 */
}

int prog_main(int argc, char **argv)
{
	void (*volatile f)(int, void *, void *);
	int i;

	(void)argc;
	(void)argv;
	for (i = 0; i < 2; i++) {
		f = over;
		f(1, 0, 0);
		sys_handle(SIGSEGV_, over, 0);
		fault();
		f = count;
		f(1, 0, 0);
		sys_handle(SIGUSR1_, count, 0);
		sys_kill_self(SIGUSR1_);
	}
	return seen == 2 * (1 + 11 + 4 + 1 + 10) ? 0 : seen;
}
