/* SPDX-License-Identifier: MIT */
/*
 * prog_busy N: N rounds of a mixture that makes much trace with few instructions: a system call,
 * indirect calls to changing targets, and returns that cannot be compressed. Prints "ready" before
 * and "done" after, and exits with status 7. prog_busy input: runs until there is input or its end,
 * which each round checks by a system call.
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

PROG_INLINE void hop_twice(void)
{
	void (*volatile f)(void) = hop;

	f();
	f();
}

/* All rounds are alike: every part of the trace shows the same. */
static void until_input(void)
{
	struct {
		int fd;
		short events, revents;
	} in;

	in.fd = 0;
	in.events = 1; /* POLLIN */
	in.revents = 0;
	do
		hop_twice();
	while (sys3(SYS_poll, (long)&in, 1, 0) <= 0);
}

int prog_main(int argc, char **argv)
{
	long n = 0, i;
	const char *s;

	for (s = argc > 1 ? argv[1] : "1000"; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (*s - '0');
	SAY("ready\n");
	if (argc > 1 && argv[1][0] == 'i')
		until_input();
	for (i = 0; i < n; i++) {
		hop_twice();
		sys3(SYS_getpid, 0, 0, 0);
	}
	SAY("done\n");
	return 7;
}
