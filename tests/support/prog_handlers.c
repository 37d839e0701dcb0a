/* SPDX-License-Identifier: MIT */
/*
 * Handlers that debuggers often get wrong: they skip an instruction, repair a fault, run
 * nested on a stack of their own, or go somewhere else. The exit status tells which one
 * failed.
 */
#include "prog.h"

PROG_START;

enum {
	SIGHUP_ = 1,
	SIGILL_ = 4,
	SIGTRAP_ = 5,
	SIGUSR1_ = 10,
	SIGSEGV_ = 11,
	SIGUSR2_ = 12,
	SIGALRM_ = 14,
	KSA_ONSTACK = 0x08000000,
	PAGE = 4096,
	PROT_RW = 3,
	MAP_ANON = 0x22,
	EINTR_ = 4,
};

static volatile int seen, depth, deepest;
static char own_stack[65536];
static volatile int off_stack;
static char *page;
static int ends[2];

static void on_ill(int sig, void *info, void *context)
{
	(void)info;
	seen += sig;
	*prog_saved_rip(context) += 2; /* ud2 */
}

static void on_trap(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
}

/* Nests once for each signal: HUP, USR1, USR2. */
static void nest(int sig, void *info, void *context)
{
	char here;

	(void)info;
	(void)context;
	depth++;
	if (depth > deepest)
		deepest = depth;
	if (&here < own_stack || &here >= own_stack + sizeof(own_stack))
		off_stack++;
	if (sig == SIGHUP_)
		sys_kill_self(SIGUSR1_);
	else if (sig == SIGUSR1_)
		sys_kill_self(SIGUSR2_);
	depth--;
}

static void on_segv(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	seen++;
	sys3(SYS_mprotect, (long)page, PAGE, PROT_RW);
}

static void on_alarm(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	seen++;
	sys_write(ends[1], "x", 1);
}

void elsewhere(void);

static void go_elsewhere(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	*prog_saved_rip(context) = (uint64_t)elsewhere;
}

int jumps(long pid);
__asm__(".text\n"
	"jumps:		mov	$62, %eax\n" /* kill(pid, SIGUSR1): does not return */
	"		mov	$10, %esi\n"
	"		syscall\n"
	"		mov	$1, %eax\n"
	"		ret\n"
	".globl elsewhere\n"
	"elsewhere:	xor	%eax, %eax\n"
	"		ret\n");

/* The alarm comes after @us. */
static long read_under_alarm(unsigned long flags, long us)
{
	const struct {
		long interval_s, interval_us, value_s, value_us;
	} timer = { 0, 0, 0, us };
	char c;

	sys_handle(SIGALRM_, on_alarm, flags);
	sys3(SYS_setitimer, 0, (long)&timer, 0);
	return sys3(SYS_read, ends[0], (long)&c, 1);
}

int prog_main(int argc, char **argv)
{
	struct {
		void *sp;
		int flags;
		size_t size;
	} stack;
	int i;

	(void)argc;
	(void)argv;
	sys_handle(SIGILL_, on_ill, 0);
	sys_handle(SIGTRAP_, on_trap, 0);
	__asm__ volatile("ud2; nop; ud2; int3; ud2; int3");
	if (seen != 3 * 4 + 2 * 5)
		return 1;

	stack.sp = own_stack;
	stack.flags = 0;
	stack.size = sizeof(own_stack);
	sys3(SYS_sigaltstack, (long)&stack, 0, 0);
	sys_handle(SIGHUP_, nest, KSA_ONSTACK | KSA_NODEFER);
	sys_handle(SIGUSR1_, nest, KSA_ONSTACK | KSA_NODEFER);
	sys_handle(SIGUSR2_, nest, KSA_ONSTACK | KSA_NODEFER);
	sys_kill_self(SIGHUP_);
	if (deepest != 3 || depth || off_stack)
		return 2;

	seen = 0;
	sys_handle(SIGSEGV_, on_segv, 0);
	page = (char *)sys6(SYS_mmap, 0, PAGE, 0, MAP_ANON, -1, 0);
	for (i = 0; i < 20; i++) {
		sys3(SYS_mprotect, (long)page, PAGE, 0);
		((volatile char *)page)[i] = (char)i;
	}
	for (i = 0; i < 20; i++)
		if (page[i] != i)
			return 3;
	if (seen != 20)
		return 4;

	seen = 0;
	sys3(SYS_pipe, (long)ends, 0, 0);
	/* The read must have begun by then, also on a busy machine. */
	if (read_under_alarm(KSA_RESTART, 100000) != 1 || seen != 1)
		return 5;
	if (read_under_alarm(0, 100000) != -EINTR_ || seen != 2)
		return 6;

	sys_handle(SIGUSR1_, go_elsewhere, 0);
	if (jumps(sys3(SYS_getpid, 0, 0, 0)))
		return 7;
	SAY("all right\n");
	return 0;
}
