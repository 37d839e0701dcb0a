/* SPDX-License-Identifier: MIT */
/*
 * int1: retires, then signals. Some hypervisors do not advance the instruction pointer over it
 * (seen on AMD under KVM). The handler does that where needed.
 */
#include "prog.h"

PROG_START;

extern char int1_here[];
static volatile int seen;

static void over(int sig, void *info, void *context)
{
	uint64_t *ip = prog_saved_rip(context);

	(void)info;
	seen += sig;
	if (*ip == (uintptr_t)int1_here)
		(*ip)++;
}

int prog_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sys_handle(5, over, KSA_NODEFER); /* for the reason see prog_trap.c */
	__asm__ volatile(".globl int1_here\nint1_here: .byte 0xf1" ::: "memory");
	return seen == 5 ? 0 : seen;
}
