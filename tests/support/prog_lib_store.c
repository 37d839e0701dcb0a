/* SPDX-License-Identifier: MIT */
/* A library that stores to a given address. */
void lib_store(int *to);

void lib_store(int *to)
{
	*to = 1; /* DIES: library */
}
