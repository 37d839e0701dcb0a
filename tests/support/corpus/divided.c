// SPDX-License-Identifier: MIT
// Divides by zero in functions that are inlined two deep: SIGFPE.
#include <stdlib.h>

static inline int ratio(int a, int b)
{
	return a / b;
}

static inline int percent(int a, int b)
{
	return ratio(100 * a, b) + 1;
}

__attribute__((noinline)) static int report(int done, int all)
{
	return percent(done, all) - percent(all, done + 1);
}

int main(int argc, char **argv)
{
	(void)argv;
	return report(argc, argc - 1);
}
