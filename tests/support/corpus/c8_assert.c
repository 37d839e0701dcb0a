// SPDX-License-Identifier: MIT
// An assertion fails.
#include <assert.h>
#include <stdio.h>
static int avg(int *a, int n)
{
	assert(n > 0 && "need at least one");
	int s = 0;
	for (int i = 0; i < n; i++)
		s += a[i];
	return s / n;
}
static int process(int *a, int n)
{
	return avg(a, n - 3);
}
int main(void)
{
	int a[3] = { 1, 2, 3 };
	printf("%d\n", process(a, 3));
}
