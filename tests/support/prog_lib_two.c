/* SPDX-License-Identifier: MIT */
/* As prog_lib.c, with other code for the same name. */
int lib_answer(int n);

static __attribute__((noinline)) int twice(int n)
{
	return n ? twice(n - 1) + 2 : 0;
}

int lib_answer(int n)
{
	return n > 0 ? 1 + twice(n) : -1;
}
