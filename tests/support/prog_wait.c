/* SPDX-License-Identifier: MIT */
/*
 * prog_wait [catch]: says "ready", reads its input to the end, says "done" and
 * exits with status 7. With "catch" it says "caught" at SIGINT and SIGTERM
 * and goes on.
 */
#include "prog.h"

PROG_START;

enum { SIGINT_ = 2, SIGTERM_ = 15 };

static void caught(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	SAY("caught\n");
}

int prog_main(int argc, char **argv)
{
	char c;

	(void)argv;
	if (argc > 1) {
		sys_handle(SIGINT_, caught, KSA_RESTART);
		sys_handle(SIGTERM_, caught, KSA_RESTART);
	}
	SAY("ready\n");
	while (sys3(SYS_read, 0, (long)&c, 1) > 0)
		;
	SAY("done\n");
	return 7;
}
