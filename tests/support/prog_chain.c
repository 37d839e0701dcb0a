/* SPDX-License-Identifier: MIT */
/*
 * prog_chain [NEXT ARGS...]: a link in a chain of execs. The last link prints all that it
 * inherited. NEXT "fd:/PATH" is executed through a descriptor that the exec closes. NEXT "bad":
 * tries to execute with invalid pointers, and prints the errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static void try_exec(const char *what, const char *path, char **argv, char **env)
{
	const long ret = syscall(SYS_execve, path, argv, env);

	printf("%s %ld %s\n", what, ret, strerror(errno));
}

static void try_bad_pointers(void)
{
	char *nowhere = (char *)8, *list[] = { nowhere, NULL }, *none[] = { NULL };

	try_exec("path", nowhere, none, none);
	try_exec("list", "/bin/true", (char **)nowhere, none);
	try_exec("word", "/bin/true", list, none);
	try_exec("environment", "/bin/true", none, list);
	printf("handler %ld\n", syscall(SYS_rt_sigaction, SIGUSR1, nowhere, NULL, 8));
}

int main(int argc, char **argv)
{
	char **e;

	printf("%s passes %d on\n", argv[0], argc);
	(void)fflush(stdout);
	if (argc > 1 && argv[1][0] == '/') {
		(void)execv(argv[1], argv + 1);
		return 1;
	}
	if (argc > 1 && !strncmp(argv[1], "fd:/", 4)) {
		(void)fexecve(open(argv[1] + 3, O_RDONLY | O_CLOEXEC), argv + 1, environ);
		return 1;
	}
	if (argc > 1 && !strcmp(argv[1], "bad"))
		try_bad_pointers();
	for (; *argv; argv++)
		printf("argument %s\n", *argv);
	for (e = environ; *e; e++)
		printf("environment %s\n", *e);
	return 6;
}
