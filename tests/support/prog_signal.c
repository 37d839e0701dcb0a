/* SPDX-License-Identifier: MIT */
/* Handlers and sigreturn: a single signal, nested, two at once, blocked, and ignored
 * signals. */
#include "prog.h"

PROG_START;

enum { SIGHUP_ = 1, SIGUSR1_ = 10, SIGUSR2_ = 12, SIG_BLOCK_ = 0, SIG_UNBLOCK_ = 1 };

static volatile int seen;

static void count(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
}

static void nest(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
	sys_kill_self(SIGUSR2_);
	seen++;
}

static void mask(int how, uint64_t set)
{
	sys6(SYS_rt_sigprocmask, how, (long)&set, 0, 8, 0, 0);
}

int prog_main(int argc, char **argv)
{
	const uint64_t both = 1ull << (SIGUSR1_ - 1) | 1ull << (SIGUSR2_ - 1);

	(void)argc;
	(void)argv;
	sys_handle(SIGUSR1_, count, 0);
	sys_handle(SIGUSR2_, count, KSA_RESTART);
	sys_kill_self(SIGUSR1_);

	sys_handle(SIGUSR1_, nest, 0);
	sys_kill_self(SIGUSR1_);

	/* Both pending when unblocked: the first handler is left before its first instruction. */
	sys_handle(SIGUSR1_, count, 0);
	mask(SIG_BLOCK_, both);
	sys_kill_self(SIGUSR1_);
	sys_kill_self(SIGUSR2_);
	seen++;
	mask(SIG_UNBLOCK_, both);

	sys_handle(SIGHUP_, (void (*)(int, void *, void *))1, 0); /* SIG_IGN */
	sys_kill_self(SIGHUP_);
	return seen == 10 + 10 + 12 + 1 + 1 + 10 + 12 ? 0 : 1;
}
