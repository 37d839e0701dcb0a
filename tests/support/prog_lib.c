/* SPDX-License-Identifier: MIT */
/* The library of prog_dlopen. */
int lib_answer(int n);

int lib_answer(int n)
{
	int i, sum = 1;

	for (i = 0; i < n; i++)
		sum += 2;
	return sum;
}
