/* SPDX-License-Identifier: MIT */
/* A library that stores where it is told to. */
void lib_store(int *to);

void lib_store(int *to)
{
	*to = 1; /* DIES: library */
}
