// SPDX-License-Identifier: MIT
// Writes behind the end of allocated memory: malloc finds the damage.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *dup(const char *s)
{
	char *p = malloc(strlen(s));
	memcpy(p, s, strlen(s) + 1);
	return p;
}
static void fill(char *p, int n)
{
	memset(p, 'A', n);
}
int main(void)
{
	char *a = dup("hello");
	char *b = malloc(24);
	fill(b, 40);
	char *c = malloc(24);
	free(b);
	free(c);
	free(a);
	char *d = malloc(2000);
	free(d);
	puts("ok");
}
