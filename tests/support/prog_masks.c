/* SPDX-License-Identifier: MIT */
/*
 * A program with a handler for SIGTRAP that sometimes blocks SIGTRAP. It reads its signal masks in
 * every possible way and prints them.
 */
#include "prog.h"

PROG_START;

enum {
	SIGTRAP_ = 5,
	SIGUSR1_ = 10,
	SIGUSR2_ = 12,
	SIGALRM_ = 14,
	SIGCHLD_ = 17,
	BLOCK = 0,
	UNBLOCK = 1,
	SET = 2,
	EINTR_ = 4,
};

#define BIT(sig) (1ull << ((sig)-1))
#define ALL	 (~0ull)

/* Prints "what value\n", the value in hex. */
PROG_INLINE void say(const char *what, uint64_t value)
{
	char line[64];
	size_t n = 0;
	int shift = 60;

	while (*what)
		line[n++] = *what++;
	line[n++] = ' ';
	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		line[n++] = "0123456789abcdef"[value >> shift & 15];
	line[n++] = '\n';
	sys_write(1, line, n);
}

static uint64_t mask(int how, uint64_t set)
{
	uint64_t old = 0;

	sys6(SYS_rt_sigprocmask, how, (long)&set, (long)&old, 8, 0, 0);
	return old;
}

static uint64_t now(void)
{
	uint64_t set = 0;

	sys6(SYS_rt_sigprocmask, 0, 0, (long)&set, 8, 0, 0);
	return set;
}

static volatile uint64_t traps, in_handler, in_frame, codes;

static uint64_t frame_mask(void *context)
{
	return *(uint64_t *)((char *)context + 296);
}

static void on_trap(int sig, void *info, void *context)
{
	(void)sig;
	traps++;
	codes = codes << 8 | (uint8_t)((int *)info)[2];
	in_handler = now();
	in_frame = frame_mask(context);
}

static void on_usr1(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	in_handler = now();
	in_frame = frame_mask(context);
}

/* Changes the mask that sigreturn restores. */
static void on_usr2(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	*(uint64_t *)((char *)context + 296) ^= BIT(SIGTRAP_);
}

static void handle(int sig, void (*f)(int, void *, void *), uint64_t sa_mask, unsigned long flags)
{
	struct ksigaction sa;

	sa.handler = f;
	sa.flags = flags | KSA_SIGINFO | KSA_RESTORER;
	sa.restorer = prog_restorer;
	sa.mask = sa_mask;
	sys6(SYS_rt_sigaction, sig, (long)&sa, 0, 8, 0, 0);
}

/* Prints whether the handler is still installed and works. */
static void check_handler(const char *where)
{
	struct ksigaction sa;
	const uint64_t before = traps;

	sa.handler = 0;
	sys6(SYS_rt_sigaction, SIGTRAP_, 0, (long)&sa, 8, 0, 0);
	say(where, sa.handler == on_trap);
	if (!(now() & BIT(SIGTRAP_))) {
		__asm__ volatile("int3");
		say("  int3", traps - before);
		sys_kill_self(SIGTRAP_);
		say("  kill", traps - before);
	}
	say("  mask", now());
}

static void in_handlers(void)
{
	handle(SIGUSR1_, on_usr1, ALL, 0);
	sys_kill_self(SIGUSR1_);
	say("sa_mask full, handler", in_handler);
	say("sa_mask full, frame", in_frame);
	check_handler("after a handler with all blocked");

	mask(BLOCK, BIT(SIGTRAP_));
	handle(SIGUSR1_, on_usr1, 0, 0);
	sys_kill_self(SIGUSR1_);
	say("blocked, handler", in_handler);
	say("blocked, frame", in_frame);
	say("blocked, behind", now());
	mask(UNBLOCK, BIT(SIGTRAP_));

	handle(SIGUSR2_, on_usr2, 0, 0);
	sys_kill_self(SIGUSR2_);
	say("blocked by sigreturn", now());
	sys_kill_self(SIGUSR2_);
	say("unblocked by sigreturn", now());
	check_handler("after sigreturns");
	sys_kill_self(SIGTRAP_);
	say("in the handler of SIGTRAP", in_handler);
}

static uint64_t pending(void)
{
	uint64_t set = 0;

	sys3(SYS_rt_sigpending, (long)&set, 8, 0);
	return set;
}

/* A SIGTRAP sent while it is blocked arrives once, when unblocked. */
static void held_back(void)
{
	const uint64_t set = BIT(SIGTRAP_);
	uint64_t before = traps;
	int info[32];

	mask(SET, ALL);
	sys_kill_self(SIGTRAP_);
	sys_kill_self(SIGTRAP_);
	say("pending", pending());
	say("held", traps - before);
	mask(UNBLOCK, BIT(SIGTRAP_));
	say("let go", traps - before);
	say("code", codes & 0xff);
	say("pending", pending());
	mask(SET, ALL);
	sys_kill_self(SIGTRAP_);
	say("sigtimedwait",
	    (uint64_t)sys6(SYS_rt_sigtimedwait, (long)&set, (long)info, 0, 8, 0, 0));
	say("pending", pending());
	mask(SET, 0);
	say("waited for", traps - before);
	check_handler("after waiting");
	/* both at once */
	before = traps;
	mask(SET, ALL);
	sys_kill_self(SIGTRAP_);
	sys_kill_self(SIGUSR1_);
	mask(SET, 0);
	say("two let go", traps - before);
}

struct timer {
	long interval_s, interval_us, value_s, value_us;
};

static void alarm_in(long us)
{
	const struct timer timer = { 0, 0, 0, us };

	sys3(SYS_setitimer, 0, (long)&timer, 0);
}

/* Waits with a temporary signal mask. */
static void waits(void)
{
	const struct {
		const uint64_t *set;
		size_t len;
	} pselect_arg = { 0, 8 };
	const uint64_t temporary[] = { ALL & ~BIT(SIGALRM_),
				       ALL & ~BIT(SIGALRM_) & ~BIT(SIGTRAP_) };
	const long second[2] = { 10, 0 }, soon[2] = { 0, 1000000 };
	int i;

	(void)pselect_arg;
	handle(SIGALRM_, on_usr1, 0, 0);
	for (i = 0; i < 2; i++) {
		const uint64_t *t = &temporary[i];
		const struct {
			const uint64_t *set;
			size_t len;
		} arg = { t, 8 };
		long r;

		mask(SET, i ? BIT(SIGTRAP_) | BIT(SIGALRM_) : BIT(SIGALRM_));
		alarm_in(2000);
		r = sys3(SYS_rt_sigsuspend, (long)t, 8, 0);
		say("sigsuspend", (uint64_t)-r);
		say("  handler", in_handler);
		say("  frame", in_frame);
		say("  behind", now());
		alarm_in(2000);
		r = sys6(SYS_ppoll, 0, 0, (long)second, (long)t, 8, 0);
		say("ppoll", (uint64_t)-r);
		say("  handler", in_handler);
		say("  frame", in_frame);
		say("  behind", now());
		alarm_in(2000);
		r = sys6(SYS_pselect6, 0, 0, 0, 0, (long)second, (long)&arg);
		say("pselect", (uint64_t)-r);
		say("  frame", in_frame);
		say("  behind", now());
		say("ppoll to its end", (uint64_t)sys6(SYS_ppoll, 0, 0, (long)soon, (long)t, 8, 0));
		say("  behind", now());
		mask(SET, 0);
		check_handler("after waits");
	}
	/* a signal that is ignored: the wait continues */
	mask(SET, ALL);
	handle(SIGALRM_, on_usr1, 0, 0);
	{
		const int fd = (int)sys3(SYS_epoll_create1, 0, 0, 0);
		char event[12];
		long r;

		alarm_in(2000);
		r = sys6(SYS_epoll_pwait, fd, (long)event, 1, 10000, (long)&temporary[0], 8);
		say("epoll_pwait", (uint64_t)-r);
		say("  handler", in_handler);
		say("  frame", in_frame);
		say("  behind", now());
	}
	mask(SET, 0);
	check_handler("after epoll_pwait");
	/* SIGTRAP itself ends the wait */
	mask(SET, ALL);
	sys_kill_self(SIGTRAP_);
	say("sigsuspend", (uint64_t)-sys3(SYS_rt_sigsuspend, (long)&temporary[1], 8, 0));
	say("  traps", traps);
	say("  frame", in_frame);
	say("  behind", now());
	mask(SET, 0);
}

/* A child inherits its parent's mask, also after an exec. */
static void child(char **argv)
{
	char *const args[] = { argv[0], (char *)"exec", 0 };
	long pid;
	int status = 0;

	mask(SET, BIT(SIGTRAP_) | BIT(SIGUSR1_));
	pid = sys6(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0);
	if (!pid) {
		say("child", now());
		sys3(SYS_execve, (long)argv[0], (long)args, 0);
		sys_exit(9);
	}
	sys6(SYS_wait4, pid, (long)&status, 0, 0, 0, 0);
	say("child's status", (uint64_t)status);
	say("parent", now());
	mask(SET, 0);
	check_handler("after a child");
}

static uint64_t disposition(int sig)
{
	struct ksigaction sa;

	sys6(SYS_rt_sigaction, sig, 0, (long)&sa, 8, 0, 0);
	return (uint64_t)sa.handler;
}

/* Ignored: a SIGTRAP from outside has no effect. */
static void ignored(void)
{
	struct ksigaction sa;

	handle(SIGTRAP_, (void (*)(int, void *, void *))1, 0, 0);
	say("ignored", disposition(SIGTRAP_));
	sys_kill_self(SIGTRAP_);
	say("ignored, sent", traps);
	mask(SET, BIT(SIGTRAP_));
	sys_kill_self(SIGTRAP_);
	mask(SET, 0);
	sa.handler = on_trap;
	sa.flags = KSA_SIGINFO | KSA_RESTORER;
	sa.restorer = prog_restorer;
	sa.mask = 0;
	sys6(SYS_rt_sigaction, SIGTRAP_, (long)&sa, (long)&sa, 8, 0, 0);
	say("was", (uint64_t)sa.handler);
	check_handler("not ignored any more");
}

int prog_main(int argc, char **argv)
{
	say("at first", now());
	say("SIGTRAP", disposition(SIGTRAP_));
	if (argc > 1 && argv[1][0] == 'e') {
		mask(UNBLOCK, BIT(SIGTRAP_));
		return 3;
	}
	handle(SIGTRAP_, on_trap, 0, 0);
	check_handler("at first");
	mask(SET, ALL);
	say("all", now());
	check_handler("all blocked");
	say("all blocked, then", mask(SET, 0));
	check_handler("unblocked");
	mask(BLOCK, BIT(SIGTRAP_));
	mask(BLOCK, BIT(SIGUSR1_));
	say("two", mask(UNBLOCK, BIT(SIGUSR1_)));
	say("one", mask(UNBLOCK, BIT(SIGTRAP_)));
	in_handlers();
	held_back();
	waits();
	child(argv);
	ignored();
	if (argc > 1 && argv[1][0] == 'f') { /* a blocked SIGTRAP from int3 is fatal */
		mask(SET, BIT(SIGTRAP_));
		__asm__ volatile("int3");
		say("not reached", 0);
	}
	return 0;
}
