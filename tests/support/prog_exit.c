/* SPDX-License-Identifier: MIT */
/* prog_exit N: exits with status N. prog_exit sig N: dies from signal N. */
#include "prog.h"

PROG_START;

static int number(const char *s)
{
	int n = 0;

	while (*s >= '0' && *s <= '9')
		n = n * 10 + (*s++ - '0');
	return n;
}

int prog_main(int argc, char **argv)
{
	if (argc == 3) {
		sys_kill_self(number(argv[2]));
		return 1;
	}
	return argc == 2 ? number(argv[1]) : 0;
}
