/* SPDX-License-Identifier: MIT */
/*
 * prog_chain [NEXT ARGS...]: a link of a chain of execs. The last one shows what has come through.
 * NEXT of "fd:/PATH" is executed by a descriptor, which the exec closes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

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
	for (; *argv; argv++)
		printf("argument %s\n", *argv);
	for (e = environ; *e; e++)
		printf("environment %s\n", *e);
	return 6;
}
