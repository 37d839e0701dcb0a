// SPDX-License-Identifier: MIT
// A cycle in a tree: an endless recursion.
#include <stdio.h>
struct t {
	struct t *l, *r;
	int v;
};
static int depth(struct t *n, int d)
{
	char b[256];
	b[0] = d;
	if (!n)
		return b[0];
	int a = depth(n->l, d + 1), c = depth(n->r, d + 1);
	return a > c ? a : c;
}
int main(void)
{
	struct t a = { 0 };
	a.l = &a;
	printf("%d\n", depth(&a, 0));
}
