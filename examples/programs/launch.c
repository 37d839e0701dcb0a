/* SPDX-License-Identifier: MIT */
/*
 * launch PROGRAM ARG...: forks a child that executes the program, and prints the child's status.
 * traces/ has a recording of this program.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void execute(char **argv)
{
	execv(argv[0], argv);
	_exit(127);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (!pid)
		execute(argv + 1);
	printf("status %d\n", wait_for(pid));
	return 0;
}
