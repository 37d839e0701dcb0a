// SPDX-License-Identifier: MIT
// Reads through a null pointer, three calls deep.
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int leaf(int *p)
{
	char b[200];
	snprintf(b, sizeof b, "%p", (void *)p);
	return b[3] + *p;
}
__attribute__((noinline)) int mid(int *p)
{
	char b[100];
	snprintf(b, sizeof b, "x%p", (void *)p);
	return leaf(p) + b[2];
}
__attribute__((noinline)) int top(int n)
{
	return mid(n > 100 ? &n : NULL) + 1;
}
int main(int c, char **v)
{
	printf("%d\n", top(c));
	return 0;
}
