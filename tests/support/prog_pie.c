/* SPDX-License-Identifier: MIT */
/* An ordinary program: a dynamic PIE with stdio, function pointers, a switch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static const char *name_of(int n)
{
	switch (n) {
	case 1:
		return "one";
	case 2:
		return "two";
	case 3:
		return "three";
	case 5:
		return "five";
	case 8:
		return "eight";
	default:
		return "many";
	}
}

int main(void)
{
	int v[] = { 8, 3, 5, 1, 13, 2 };
	const size_t n = sizeof(v) / sizeof(v[0]);
	size_t i;

	qsort(v, n, sizeof(v[0]), ascending);
	for (i = 0; i < n; i++)
		printf("%d %s %zu\n", v[i], name_of(v[i]), strlen(name_of(v[i])));
	return v[0] == 1 ? 3 : 1;
}
