/* SPDX-License-Identifier: MIT */
/*
 * prog_busy N: N times a mixture that makes much trace of few instructions -
 * a system call, indirect calls to changing targets, returns that cannot be
 * compressed. Says "ready" before, "done" after, and exits with status 7.
 * prog_busy input: until there is input, or its end; the system call asks for that.
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

/* Each round is like the one before: what a part of the trace shows is the same everywhere. */
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
