// SPDX-License-Identifier: MIT
// Calls the address 16.
#include <stdlib.h>
int (*volatile cb)(int);
__attribute__((noinline)) int fire(int x)
{
	return ((int (*)(int))0x10)(x) + 1;
}
__attribute__((noinline)) int handle(int x)
{
	return fire(x + 1) * 2;
}
int main(void)
{
	return handle(3);
}
