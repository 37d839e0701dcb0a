/* SPDX-License-Identifier: MIT */
/*
 * prog_crash MODE [LIBRARY] [core]: kills itself in one of several ways. The line that does it ends
 * with the comment "DIES: mode". With "core" a core dump is allowed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

enum { PAGE = 4096 };

static volatile int zero;
static const int constant[4] = { 1, 2, 3, 4 };
static volatile int *volatile nowhere;
static jmp_buf before;
static volatile int shared, spinning;

ALONE static void write_null(void)
{
	nowhere[4] = 1; /* DIES: null, thread, handler, longjmp, child */
	shared++;
}

ALONE static void write_constant(void)
{
	*(volatile int *)(uintptr_t)&constant[1] = 5; /* DIES: readonly */
}

ALONE static int non_canonical(void)
{
	volatile int *p = (volatile int *)(uintptr_t)0xdead000000000000;

	return p[zero]; /* DIES: wild */
}

/* The return address becomes a number: the bytes behind @name's end. */
ALONE static void copy(volatile char *to, const char *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

ALONE __attribute__((optimize("no-stack-protector"))) static void smash(void)
{
	volatile char name[8];
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(text); i += 8)
		memcpy(text + i, &(uint64_t){ 0x414141410000 }, 8);
	copy(name, text, (size_t)((char *)__builtin_frame_address(0) + 16 - (char *)name));
} /* DIES: smash */

/*
 * Has a condition: a trace of calls without any has no packets to count the calls by. Its store
 * reaches further down than any call pushes, so the store hits the end of the stack first.
 */
ALONE static int recurse(int n)
{
	volatile char room[512];

	room[0] = (char)n;
	*((volatile char *)__builtin_frame_address(0) - PAGE) = 1; /* DIES: recursion, guard */
	return n == zero - 1 ? 0 : recurse(n + 1) + room[0];
}

static void small_stack(void)
{
	const struct rlimit limit = { 128 << 10, 128 << 10 };

	(void)setrlimit(RLIMIT_STACK, &limit);
	(void)recurse(0);
}

ALONE static void jump_to(uintptr_t where)
{
	void (*volatile f)(void) = (void (*)(void))where;

	f(); /* DIES: badjump, noexec */
	shared++;
}

ALONE static void give_up(void)
{
	abort(); /* DIES: abort */
}

ALONE static void free_twice(void)
{
	char *volatile p = malloc(2000);
	char *volatile guard = malloc(20); /* no merge of @p with the top chunk */

	free(p);
	free(p); /* DIES: doublefree */
	free(guard);
}

ALONE static int divide(int n)
{
	return n / zero; /* DIES: division */
}

ALONE static int read_truncated(void)
{
	const int fd = memfd_create("cut", 0);
	volatile char *p;

	(void)!ftruncate(fd, 2 * PAGE);
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	(void)!ftruncate(fd, 10);
	return p[PAGE]; /* DIES: bus */
}

ALONE static void unreachable(void)
{
	__asm__ volatile("ud2"); /* DIES: ud2 */
}

ALONE static void breakpoint(void)
{
	__asm__ volatile("int3"); /* DIES: int3 */
}

static void *in_thread(void *how)
{
	(void)pthread_setname_np(pthread_self(), "worker");
	if (how)
		(void)recurse(0);
	write_null();
	return NULL;
}

static void *waits(void *fd)
{
	char c;

	(void)!read((int)(intptr_t)fd, &c, 1);
	return NULL;
}

/* Never stays at one instruction: a running thread is seen at other addresses
 * later. */
#define OFTEN(x) x, x, x, x, x, x, x, x
static void *spins(void *arg)
{
	for (;;)
		OFTEN(OFTEN(spinning++));
	return arg;
}

static void threads(int deep)
{
	pthread_attr_t attr;
	pthread_t t;
	int fds[2];

	(void)!pipe(fds);
	(void)pthread_create(&t, NULL, waits, (void *)(intptr_t)fds[0]);
	(void)pthread_create(&t, NULL, spins, NULL);
	while (!spinning)
		;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 64 << 10);
	(void)pthread_create(&t, &attr, in_thread, deep ? "deep" : NULL);
	(void)pthread_join(t, NULL);
}

static void on_usr1(int sig)
{
	(void)sig;
	write_null();
}

static void in_handler(void)
{
	(void)signal(SIGUSR1, on_usr1);
	(void)raise(SIGUSR1);
}

ALONE static void jump_back(int n)
{
	if (n)
		jump_back(n - 1);
	else
		longjmp(before, 1);
	shared++;
}

static void after_longjmp(void)
{
	if (!setjmp(before))
		jump_back(3);
	write_null();
}

/* xor %eax, %eax; mov %eax, (%rax) */
static void in_jit(void)
{
	static const unsigned char code[] = { 0x31, 0xc0, 0x89, 0x00, 0xc3 };
	unsigned char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*volatile f)(void);

	memcpy(p + 64, code, sizeof(code));
	f = (void (*)(void))(uintptr_t)(p + 64);
	f();
	shared++;
}

#ifdef STATIC
static void in_library(const char *path)
{
	(void)path;
}
#else
ALONE static void in_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	union {
		void *p;
		void (*f)(int *);
	} sym;

	sym.p = lib ? dlsym(lib, "lib_store") : NULL;
	if (sym.p)
		sym.f(NULL);
}

#endif

static void in_child(void)
{
	const pid_t pid = fork();

	if (!pid)
		write_null();
	(void)waitpid(pid, NULL, 0);
}

static void on_segv(int sig)
{
	(void)sig;
	_exit(getenv("FAILS") ? 7 : 0); /* crash.py: handled */
}

static void wild(void)
{
	(void)non_canonical();
}

static void bad_jump(void)
{
	jump_to(0x666000);
}

static void no_exec(void)
{
	jump_to((uintptr_t)&shared);
}

static void by_zero(void)
{
	(void)divide(7);
}

static void truncated(void)
{
	(void)read_truncated();
}

static void in_worker(void)
{
	threads(0);
}

static void deep_in_worker(void)
{
	threads(1);
}

static void sent(void)
{
	(void)kill(getpid(), SIGTERM);
}

static void handled(void)
{
	(void)signal(SIGSEGV, on_segv);
	write_null();
}

static const char *library;

static void library_of_argv(void)
{
	in_library(library);
}

static const struct way {
	const char *name;
	void (*die)(void);
} ways[] = {
	{ "null", write_null },
	{ "readonly", write_constant },
	{ "wild", wild },
	{ "smash", smash },
	{ "recursion", small_stack },
	{ "badjump", bad_jump },
	{ "noexec", no_exec },
	{ "abort", give_up },
	{ "doublefree", free_twice },
	{ "division", by_zero },
	{ "bus", truncated },
	{ "ud2", unreachable },
	{ "int3", breakpoint },
	{ "thread", in_worker },
	{ "guard", deep_in_worker },
	{ "handler", in_handler },
	{ "longjmp", after_longjmp },
	{ "jit", in_jit },
	{ "library", library_of_argv },
	{ "child", in_child },
	{ "sent", sent },
	{ "handled", handled },
};

/* libc's strcmp differs between processors. */
static int same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	size_t i;

	library = argc > 2 ? argv[2] : NULL;
	if (!same(argv[argc - 1], "core"))
		(void)setrlimit(RLIMIT_CORE, &none);
	for (i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (same(argv[1], ways[i].name))
			ways[i].die();
	return 0;
}
