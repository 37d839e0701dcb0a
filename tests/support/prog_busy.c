/* SPDX-License-Identifier: MIT */
/*
 * prog_busy N: N times a mixture that makes much trace of few instructions -
 * a system call, indirect calls to changing targets, returns that cannot be
 * compressed. Says "ready" before, "done" after, and exits with status 7.
 */
#include "prog.h"

PROG_START;

__asm__(".text\n.type hop, @function\nhop:\n"
	"	lea 1f(%rip), %rax\n"
	"	push %rax\n"
	"	ret\n"
	"1:	ret\n"
	".size hop, . - hop\n");
void hop(void);

int prog_main(int argc, char **argv)
{
	long n = 0, i;
	const char *s;

	for (s = argc > 1 ? argv[1] : "1000"; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (*s - '0');
	SAY("ready\n");
	for (i = 0; i < n; i++) {
		void (*volatile f)(void) = hop;

		f();
		f();
		sys3(SYS_getpid, 0, 0, 0);
	}
	SAY("done\n");
	return 7;
}
