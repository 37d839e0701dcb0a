/* SPDX-License-Identifier: MIT */
/* prog_profile: loops, a switch, recursion and a library's callback, for profiles of other tools.
 */
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static unsigned long fibonacci(int n)
{
	if (n < 2)
		return (unsigned long)n;
	return fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int choose(int x)
{
	switch (x % 7) {
	case 0:
		return 3;
	case 1:
		return x;
	case 2:
		return x * 2;
	case 3:
		return -x;
	case 4:
		return x ^ 5;
	case 5:
		return 9;
	default:
		return x + 1;
	}
}

int main(void)
{
	enum { N = 300 };
	int v[N], i;
	long sum = 0;

	for (i = 0; i < N; i++)
		v[i] = i * 7919 % 1000;
	qsort(v, N, sizeof(*v), compare);
	for (i = 0; i < 2 * N; i++) {
		if (i % 3)
			sum += choose(i);
		else
			sum -= v[i / 2];
	}
	printf("%lu %ld %d\n", fibonacci(12), sum, v[N / 2]);
	return 0;
}
