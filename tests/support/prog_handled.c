/* SPDX-License-Identifier: MIT */
/*
 * prog_handled MODE STATUS [N]: handles faults and exits with STATUS. With N, the mode `many`
 * handles N faults, and the mode `flags` has flags of its own for each N.
 * The mode `executed` executes the program N with the argument STATUS.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

enum { PAGE = 4096, STACK = 16 * PAGE };

static const char *program, *status_text;
static int status;
static long count;
static volatile int zero, shared;
static volatile int *volatile nowhere;
static sigjmp_buf before;

static void gives_up(int sig)
{
	(void)sig;
	_exit(status);
}

static void leaves(int sig)
{
	(void)sig;
	siglongjmp(before, 1);
}

/* Skips write_null's store, whose length the program reads from the next label. */
extern const char store_begins[], store_ends[];

static void skips(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)sig;
	(void)info;
	c->uc_mcontext.gregs[REG_RIP] += store_ends - store_begins;
}

ALONE static void write_null(void)
{
	__asm__ volatile(".global store_begins, store_ends\n"
			 "store_begins: movl $1, 16(%0)\n"
			 "store_ends:" ::"r"(nowhere)
			 : "memory");
	shared++;
}

static void handle(int sig, void (*handler)(int))
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_handler = handler;
	a.sa_flags = SA_ONSTACK;
	(void)sigaction(sig, &a, NULL);
}

static void skip_faults(void)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = skips;
	a.sa_flags = SA_SIGINFO;
	(void)sigaction(SIGSEGV, &a, NULL);
}

static void segv(void)
{
	handle(SIGSEGV, gives_up);
	write_null();
}

ALONE static int divide(int n)
{
	return n / zero;
}

static void division(void)
{
	handle(SIGFPE, gives_up);
	shared = divide(7);
}

ALONE static void undefined(void)
{
	__asm__ volatile("ud2");
}

static void ud2(void)
{
	handle(SIGILL, gives_up);
	undefined();
}

ALONE static int read_bus(const volatile int *p)
{
	return *p;
}

static void bus(void)
{
	const volatile int *p;
	const int fd = memfd_create("empty", 0);

	handle(SIGBUS, gives_up);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	shared = read_bus(p);
}

/* Overwrites the stack on which the fault happened. */
ALONE static void overwrite(void)
{
	volatile char room[STACK];
	size_t i;

	for (i = 0; i < sizeof(room); i++)
		room[i] = 0x41;
}

static void jump(void)
{
	handle(SIGSEGV, leaves);
	if (!sigsetjmp(before, 1))
		write_null();
	overwrite();
}

/* The end of the stack is reached by the store, and not by a call. */
ALONE static int recurse(int n)
{
	volatile char room[512];

	room[0] = (char)n;
	*((volatile char *)__builtin_frame_address(0) - PAGE) = 1;
	return n == zero - 1 ? 0 : recurse(n + 1) + room[0];
}

static void *overflows(void *unused)
{
	static char alternate[STACK];
	const stack_t s = { .ss_sp = alternate, .ss_size = sizeof(alternate) };

	(void)sigaltstack(&s, NULL);
	handle(SIGSEGV, gives_up);
	(void)recurse(0);
	return unused;
}

static void *faults(void *unused)
{
	write_null();
	return unused;
}

static void in_thread(void *(*f)(void *))
{
	pthread_attr_t attr;
	pthread_t t;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK);
	(void)pthread_create(&t, &attr, f, NULL);
	(void)pthread_join(t, NULL);
}

static void overflow(void)
{
	in_thread(overflows);
}

static void ended(void)
{
	skip_faults();
	in_thread(faults);
}

static void many(void)
{
	skip_faults();
	while (count--)
		write_null();
}

static void sent(void)
{
	handle(SIGSEGV, gives_up);
	(void)kill(getpid(), SIGSEGV);
	for (;;)
		(void)pause();
}

/* The new program exits with a failure, and has no fault. */
static void executed(void)
{
	skip_faults();
	write_null();
	(void)execl(program, program, status_text, (char *)NULL);
}

/* The child exits with a failure, and has no fault. */
static void forked(void)
{
	skip_faults();
	write_null();
	if (!fork())
		return;
	(void)wait(NULL);
	status = 0;
}

#define FAULT_AFTER(INSNS)                                                                         \
	__asm__ volatile(INSNS "\nmovl $1, (%%rsi)" ::"a"(0x7f), "b"(1), "d"(0xff), "S"(0)         \
			 : "memory", "rcx", "cc")

/* Each has other flags. None leaves a flag undefined. From 10 on, the signal kills. */
static void flags(void)
{
	handle(SIGSEGV, count < 10 ? gives_up : SIG_DFL);
	switch (count % 10) {
	case 0:
		FAULT_AFTER("add %%bl, %%al");
		break;
	case 1:
		FAULT_AFTER("add %%dl, %%bl");
		break;
	case 2:
		FAULT_AFTER("sub %%ebx, %%ebx");
		break;
	case 3:
		FAULT_AFTER("cmp %%edx, %%eax");
		break;
	case 4:
		FAULT_AFTER("stc; inc %%ebx");
		break;
	case 5:
		FAULT_AFTER("stc; sbb %%ecx, %%ecx");
		break;
	case 6:
		FAULT_AFTER("stc; std");
		break;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "segv", segv },     { "division", division }, { "ud2", ud2 },
		{ "bus", bus },	      { "jump", jump },		{ "overflow", overflow },
		{ "ended", ended },   { "many", many },		{ "sent", sent },
		{ "forked", forked }, { "executed", executed }, { "flags", flags },
	};
	size_t i;

	program = argc > 3 ? argv[3] : "";
	status_text = argc > 2 ? argv[2] : "0";
	status = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	count = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run();
	return status;
}
