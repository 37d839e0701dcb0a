// SPDX-License-Identifier: MIT
// Calls a null pointer.
#include <stdlib.h>
int (*volatile cb)(int);
__attribute__((noinline)) int fire(int x)
{
	return cb(x) + 1;
}
__attribute__((noinline)) int handle(int x)
{
	return fire(x + 1) * 2;
}
int main(void)
{
	return handle(3);
}
