/* SPDX-License-Identifier: MIT */
/*
 * prog_run STATUS COMMAND [";" COMMAND]...: runs each command with its arguments, and exits with
 * STATUS. A command before "&" runs beside the next one. A shell would take 200,000 steps more.
 */
#include "prog.h"

PROG_START;

static void run(char **argv, char **envp)
{
	if (sys3(SYS_fork, 0, 0, 0))
		return;
	(void)sys3(SYS_execve, (long)argv[0], (long)argv, (long)envp);
	sys_exit(127);
}

static void wait_for_child(void)
{
	(void)sys6(SYS_wait4, -1, 0, 0, 0, 0, 0);
}

int prog_main(int argc, char **argv)
{
	char **envp = argv + argc + 1, **command = argv + 2;
	int beside = 0, i;

	for (i = 2; i < argc; i++) {
		const char end = argv[i][0];

		if (end != ';' && end != '&')
			continue;
		argv[i] = NULL;
		run(command, envp);
		if (end == '&')
			beside++;
		else
			wait_for_child();
		command = argv + i + 1;
	}
	run(command, envp);
	for (i = 0; i <= beside; i++)
		wait_for_child();
	return argv[1][0] - '0';
}
