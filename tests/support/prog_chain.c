/* SPDX-License-Identifier: MIT */
/*
 * prog_chain [NEXT ARGS...]: a link in a chain of execs. The last link prints all that it
 * inherited. NEXT "fd:/PATH" is executed through a descriptor that the exec closes. NEXT
 * "child:/PATH" is executed by a child, whose status is printed. NEXT "show:/PATH": prints the
 * file. NEXT "bad": tries to execute with invalid pointers, and prints the errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static int in_child(const char *path, char **argv)
{
	const pid_t child = fork();
	int status = -1;

	if (child == 0) {
		(void)execv(path, argv);
		_exit(127);
	}
	(void)waitpid(child, &status, 0);
	printf("status %d\n", WEXITSTATUS(status));
	return 0;
}

static int show(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		if (write(STDOUT_FILENO, text, (size_t)n) != n)
			return 1;
	return n < 0;
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
	if (argc > 1 && !strncmp(argv[1], "child:/", 7))
		return in_child(argv[1] + 6, argv + 1);
	if (argc > 1 && !strncmp(argv[1], "show:/", 6))
		return show(argv[1] + 5);
	if (argc > 1 && !strcmp(argv[1], "bad"))
		try_bad_pointers();
	for (; *argv; argv++)
		printf("argument %s\n", *argv);
	for (e = environ; *e; e++)
		printf("environment %s\n", *e);
	return 6;
}
