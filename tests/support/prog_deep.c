/* SPDX-License-Identifier: MIT */
/* Dies in a function that the C library called: frames of both, without frame pointers.
 * tests/e2e/unwound.py builds it. */
#include <stdlib.h>

static int *volatile nowhere;
static volatile int one = 1;

#define ALONE __attribute__((noinline))

ALONE static int leaf(int n)
{
	volatile char name[200];

	name[n] = 1;
	return *nowhere + name[3];
}

ALONE static int by_number(const void *a, const void *b)
{
	return leaf(*(const int *)a) + *(const int *)b;
}

ALONE static int mid(int n)
{
	int v[4] = { n, 3, 2, 1 };

	qsort(v, 4, sizeof(v[0]), by_number);
	return v[0] + one;
}

ALONE static int top(int n)
{
	volatile char name[50];

	name[n] = 1;
	return mid(n) + name[0];
}

int main(int argc, char **argv)
{
	return top(argc) + (argv == NULL);
}
