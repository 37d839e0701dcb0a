/* SPDX-License-Identifier: MIT */
/*
 * prog_asan MODE: makes an error that AddressSanitizer finds. tests/e2e/crash_message.py builds it.
 */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile int ten = 10;

NOINLINE static int heap(const int *p)
{
	return p[ten]; /* DIES: heap */
}

NOINLINE static void freed(char *p)
{
	free(p);
	p[ten] = 1; /* DIES: freed */
}

NOINLINE static int stack(void)
{
	volatile int small[4] = { 0 };

	return small[ten - 6]; /* DIES: stack */
}

NOINLINE static void copy(char *p)
{
	memset(p, 1, (size_t)ten * 3); /* DIES: copy */
	p[0] = 2;
}

NOINLINE static void twice(char *p)
{
	free(p);
	free(p); /* DIES: twice */
	ten = 11;
}

NOINLINE static int deep(int n)
{
	volatile char large[4096];

	large[ten] = (char)n;
	return n < 1 << 30 ? deep(n + 1) + large[ten] : n;
}

NOINLINE static void null(int *volatile p)
{
	*p = 1; /* DIES: null */
}

NOINLINE static void aborts(void)
{
	abort(); /* DIES: aborts */
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "heap"))
		return heap(malloc(40));
	if (!strcmp(mode, "freed"))
		freed(malloc(40));
	if (!strcmp(mode, "stack"))
		return stack();
	if (!strcmp(mode, "copy"))
		copy(malloc(16));
	if (!strcmp(mode, "twice"))
		twice(malloc(16));
	if (!strcmp(mode, "deep"))
		return deep(0);
	if (!strcmp(mode, "null"))
		null(NULL);
	if (!strcmp(mode, "aborts"))
		aborts();
	return 0;
}
