/* SPDX-License-Identifier: MIT */
/*
 * peak FILE CMD [ARGS...]: runs CMD, ends as it does, and writes its peak of resident memory in KiB
 * to FILE, or the peak of a descendant it waited for if that is larger. A child starts with its
 * parent's peak, so the measuring program must be small.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 125;
	pid = fork();
	if (!pid) {
		(void)execv(argv[2], argv + 2);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return 125;
	f = fopen(argv[1], "we");
	if (!f || fprintf(f, "%ld\n", usage.ru_maxrss) < 0 || fclose(f))
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
