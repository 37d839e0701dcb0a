/* SPDX-License-Identifier: MIT */
/*
 * prog_pairs N: prints "ready". For each byte of its input it maps code N times, at ever new
 * addresses, unmaps it each time, and prints "mapped". At the end of its input it prints "done" and
 * exits with status 7.
 */
#include "prog.h"

PROG_START;

enum { PAGE = 4096, READ_EXEC = 5, PRIVATE_FIXED_ANON = 0x32 };

int prog_main(int argc, char **argv)
{
	long at = 0x10000000000, n = 0, i;
	const char *s;
	char c;

	for (s = argc > 1 ? argv[1] : "1000"; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (*s - '0');
	SAY("ready\n");
	while (sys3(SYS_read, 0, (long)&c, 1) > 0) {
		for (i = 0; i < n; i++, at += 2 * PAGE) {
			sys6(SYS_mmap, at, PAGE, READ_EXEC, PRIVATE_FIXED_ANON, -1, 0);
			sys3(SYS_munmap, at, PAGE, 0);
		}
		SAY("mapped\n");
	}
	SAY("done\n");
	return 7;
}
