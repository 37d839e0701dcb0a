/* SPDX-License-Identifier: MIT */
/*
 * prog_signature MODE SEED [LIBRARY]: kills itself in one of several ways. SEED is the input: it
 * changes addresses, depths, numbers of threads and sizes, but not the bug. With PADDING the same
 * functions are at other places, and have other code. tests/e2e/signatures.py builds it.
 */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

enum { PAGE = 4096, MANY = 64 };

static volatile int zero;
static volatile int shared;
static volatile size_t seed; /* the input */
static const char *library;

/* Other code between the functions, and in them. */
#ifdef PADDING
#define PAD(name)                                                                                  \
	ALONE static int pad_##name(int n)                                                         \
	{                                                                                          \
		for (int i = 0; i < n; i++)                                                        \
			shared += i * n;                                                           \
		return shared;                                                                     \
	}
#define MORE(name) shared += pad_##name((int)seed)
#else
#define PAD(name)
#define MORE(name) shared += 1
#endif

struct node {
	long room[4];
	struct node *volatile next;
};

static struct node *volatile nowhere;

/* --- accesses --- */

PAD(a)
ALONE static void reads_null(void)
{
	MORE(a);
	shared += nowhere->next != NULL;
}

PAD(b)
ALONE static void writes_null(void)
{
	MORE(b);
	nowhere->next = NULL;
	MORE(b);
}

static const uintptr_t garbage[] = { 0xdead000000000000, 0x666000, 0x10, 0x7fff00000000 };

PAD(c)
ALONE static int reads_garbage(const volatile int *p)
{
	MORE(c);
	return *p;
}

static void wild(void)
{
	shared += reads_garbage((const volatile int *)garbage[seed % 4]);
}

PAD(d)
ALONE static void writes_constant(void)
{
	static const int constant[MANY] = { 1, 2, 3 };

	MORE(d);
	*(volatile int *)(uintptr_t)&constant[seed % MANY] = 5;
}

/* --- jumps --- */

PAD(e)
ALONE static void calls_garbage(void)
{
	void (*volatile f)(void) = (void (*)(void))(uintptr_t)(0x666000 + seed * 16);

	MORE(e);
	f();
	MORE(e);
}

PAD(f)
ALONE static void calls_null(void)
{
	void (*volatile f)(void) = NULL;

	MORE(f);
	f();
	MORE(f);
}

/* --- recursions --- */

ALONE static int recurses(int n)
{
	volatile char room[512];

	room[0] = (char)n;
	*((volatile char *)__builtin_frame_address(0) - PAGE) = 1;
	MORE(f);
	return n == zero - 1 ? 0 : recurses(n + 1) + room[0];
}

ALONE static int third(int n);

PAD(g)
ALONE static int second(int n)
{
	volatile char room[300];

	room[0] = (char)n;
	MORE(g);
	return n == zero - 1 ? 0 : third(n + 1) + room[0];
}

ALONE static int first(int n)
{
	volatile char room[200];

	room[0] = (char)n;
	return n == zero - 1 ? 0 : second(n + 1) + room[0];
}

ALONE static int third(int n)
{
	volatile char room[100];

	room[0] = (char)n;
	return n == zero - 1 ? 0 : first(n + 1) + room[0];
}

static void limit_stack(void)
{
	const struct rlimit limit = { (128 + 4 * (seed % 8)) << 10, 256 << 10 };

	(void)setrlimit(RLIMIT_STACK, &limit);
}

static void overflows(void)
{
	limit_stack();
	(void)recurses(0);
}

static void overflows_mutually(void)
{
	limit_stack();
	shared += seed % 2 ? first(0) : second(0);
}

/* A parser: the depth depends on the input, and the bug is in a leaf. */
PAD(h)
ALONE static int takes_number(const struct node *n)
{
	MORE(h);
	return n->next != NULL;
}

ALONE static int takes_sum(size_t depth);

ALONE static int takes_product(size_t depth)
{
	const int n = depth ? takes_sum(depth - 1) : takes_number(nowhere);

	MORE(h);
	return n + shared;
}

ALONE static int takes_sum(size_t depth)
{
	const int n = depth ? takes_product(depth - 1) : takes_number(nowhere);

	MORE(h);
	return n * shared;
}

static void parses(void)
{
	shared += takes_sum(4 + seed);
}

/* --- aborts --- */

/* A compiler may omit a memset() before free() or at the end of a function. */
ALONE static void fills(volatile char *to, size_t n)
{
	while (n--)
		*to++ = 0x41;
}

PAD(i)
ALONE static void gives_up(void)
{
	MORE(i);
	abort();
}

PAD(j)
ALONE static void asserts(void)
{
	MORE(j);
	assert((int)seed < zero && "the seed is no negative number");
}

PAD(k)
ALONE static void frees_twice(void)
{
	char *volatile p = malloc(seed % 2 ? 2000 : 20);
	char *volatile guard = malloc(20);

	MORE(k);
	free(p);
	free(p);
	free(guard);
}

/* The size of the heap's blocks decides which check finds the error. */
PAD(l)
ALONE static void corrupts_heap(void)
{
	char *volatile blocks[4];
	size_t i;

	for (i = 0; i < 4; i++)
		blocks[i] = malloc(24 + seed % 4 * 500);
	fills(blocks[1] - 8, 2 + seed % 6);
	MORE(l);
	for (i = 0; i < 4; i++)
		free(blocks[i]);
}

PAD(m)
ALONE static void smashes(void)
{
	char small[8];
	char *volatile p = small;

	MORE(m);
	fills(p, MANY + seed % 8);
}

PAD(n)
ALONE static void overruns(const char *from)
{
	char small[8];
	char *volatile p = small;

	MORE(n);
	memcpy(small, from, MANY + seed % 8);
	shared += *p;
}

static void overruns_buffer(void)
{
	static const char zeros[2 * MANY];

	overruns(zeros);
}

/* --- other signals --- */

PAD(o)
ALONE static int divides(int n)
{
	MORE(o);
	return n / zero;
}

static void by_zero(void)
{
	shared = divides((int)seed);
}

PAD(p)
ALONE static void runs_nonsense(void)
{
	MORE(p);
	__asm__ volatile("ud2");
}

PAD(q)
ALONE static int reads_truncated(void)
{
	const int fd = memfd_create("cut", 0);
	volatile char *p;

	(void)!ftruncate(fd, 8 * PAGE);
	p = mmap(NULL, 8 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	(void)!ftruncate(fd, 10);
	MORE(q);
	return p[PAGE * (1 + seed % 6)];
}

static void truncated(void)
{
	shared = reads_truncated();
}

/* --- callers --- */

static void *waits(void *fd)
{
	char c;

	(void)!read((int)(intptr_t)fd, &c, 1);
	return NULL;
}

PAD(r)
ALONE static void *works(void *arg)
{
	MORE(r);
	nowhere->room[seed % 4] = 1;
	return arg;
}

static void in_thread(void)
{
	pthread_t t;
	int fds[2];
	size_t i;

	(void)!pipe(fds);
	for (i = 0; i < seed % 4; i++)
		(void)pthread_create(&t, NULL, waits, (void *)(intptr_t)fds[0]);
	(void)pthread_create(&t, NULL, works, NULL);
	(void)pthread_join(t, NULL);
}

PAD(s)
ALONE static int compares(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	MORE(s);
	if (x == 7 || y == 7)
		shared += nowhere->next != NULL;
	return x - y;
}

static void sorts(void)
{
	int numbers[MANY];
	size_t i, n = 9 + seed % (MANY - 9);

	for (i = 0; i < n; i++)
		numbers[i] = (int)((i * 5 + seed) % MANY);
	numbers[seed % n] = 7;
	qsort(numbers, n, sizeof(numbers[0]), compares);
}

static void on_usr1(int sig)
{
	shared += sig;
	nowhere->next = NULL;
}

PAD(t)
ALONE static void interrupted(void)
{
	(void)signal(SIGUSR1, on_usr1);
	MORE(t);
	(void)raise(SIGUSR1);
}

PAD(u)
ALONE static size_t measures(const char *volatile text)
{
	MORE(u);
	return strlen(text);
}

static void in_libc(void)
{
	shared += (int)measures((const char *)(uintptr_t)(seed % 4));
}

ALONE static void in_library(void)
{
	void *lib = dlopen(library, RTLD_NOW);
	union {
		void *p;
		void (*f)(int *);
	} sym;

	sym.p = lib ? dlsym(lib, "lib_store") : NULL;
	if (sym.p)
		sym.f(NULL);
	shared++;
}

static const struct way {
	const char *name;
	void (*die)(void);
} ways[] = {
	{ "read", reads_null },
	{ "write", writes_null },
	{ "wild", wild },
	{ "constant", writes_constant },
	{ "badcall", calls_garbage },
	{ "callnull", calls_null },
	{ "overflow", overflows },
	{ "mutual", overflows_mutually },
	{ "parse", parses },
	{ "abort", gives_up },
	{ "assert", asserts },
	{ "doublefree", frees_twice },
	{ "heap", corrupts_heap },
	{ "smash", smashes },
	{ "fortify", overruns_buffer },
	{ "divide", by_zero },
	{ "illegal", runs_nonsense },
	{ "bus", truncated },
	{ "thread", in_thread },
	{ "sort", sorts },
	{ "handler", interrupted },
	{ "strlen", in_libc },
	{ "library", in_library },
};

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	size_t i;

	(void)setrlimit(RLIMIT_CORE, &none);
	seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	library = argc > 3 ? argv[3] : NULL;
	for (i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].die();
	return 0;
}
