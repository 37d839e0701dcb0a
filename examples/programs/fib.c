/* SPDX-License-Identifier: MIT */
/* fib N: prints the Nth Fibonacci number, by recursion. README.md records this program. */
#include <stdio.h>
#include <stdlib.h>

static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	printf("%ld\n", fib(argc > 1 ? strtol(argv[1], NULL, 10) : 5));
	return 0;
}
