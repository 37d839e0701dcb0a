/* SPDX-License-Identifier: MIT */
/*
 * Files that change while they are mapped.
 *
 * library LIB NEW      renames NEW to LIB between two calls into LIB
 * unlinked LIB         unlinks LIB between the calls
 * bound LIB NEW        mounts NEW over LIB between the calls
 * contained NAME NEW   mounts NEW over NAME in a mount namespace of its own, and
 *                      executes NAME there
 * itself NEW           renames NEW to this program while the program runs
 * awaited NEW N        as itself; prints what it has done and reads a byte: before the
 *                      rename, after the rename, and after a loop of N rounds
 * crashing NEW         as itself, then dies from a null pointer
 * forked NEW           a child's parent renames, before the child executes the name
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WITHOUT_LOADER
#include <dlfcn.h>

static int call(void *lib)
{
	union {
		void *p;
		int (*f)(int);
	} sym = { dlsym(lib, "lib_answer") };

	return sym.p ? sym.f(20) : 0;
}

static int change(const char *how, const char *lib, const char *other)
{
	if (!strcmp(how, "unlinked"))
		return unlink(lib);
	if (!other)
		return 1;
	return strcmp(how, "bound") == 0 ? mount(other, lib, NULL, MS_BIND, NULL) :
					   rename(other, lib);
}

static int with_library(const char *how, const char *path, const char *other)
{
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib || !call(lib))
		return 3;
	if (change(how, path, other)) {
		perror(how);
		return 4;
	}
	return call(lib) ? 0 : 5;
}
#endif

/* Code of this program that runs after the change. */
__attribute__((noinline)) static int loop(int n)
{
	volatile int sum = 0;

	while (n--)
		sum += n % 3 ? 1 : 2;
	return sum;
}

/* Prints @done and waits for a byte. */
static int is_let_go(const char *done)
{
	char c;

	return write(1, done, strlen(done)) > 0 && read(0, &c, 1) == 1;
}

static int awaited(const char *self, const char *other, int n)
{
	if (!loop(20) || !is_let_go("looped\n") || rename(other, self))
		return 3;
	return loop(20) && is_let_go("replaced\n") && loop(n) && is_let_go("looped long\n") ? 0 : 4;
}

static volatile int *volatile nowhere;

static int crashing(const char *self, const char *other)
{
	if (!loop(20) || rename(other, self) || !loop(20))
		return 3;
	*nowhere = 1;
	return 0;
}

static int by_fork(const char *self, const char *other)
{
	int fd[2], status;
	char c;
	pid_t pid;

	if (pipe(fd))
		return 3;
	pid = fork();
	if (!pid) {
		(void)close(fd[1]);
		if (read(fd[0], &c, 1) == 0)
			execl(self, self, (char *)NULL);
		_exit(4);
	}
	if (rename(other, self))
		return 5;
	(void)close(fd[0]);
	(void)close(fd[1]);
	return waitpid(pid, &status, 0) == pid && status == 0 && loop(20) ? 0 : 6;
}

static int in_namespace(const char *name, const char *other)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 77; /* not allowed, or the root directory is no mount point */
	if (mount(other, name, NULL, MS_BIND, NULL)) {
		perror("contained");
		return 3;
	}
	execl(name, name, (char *)NULL);
	return 4;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "contained"))
		return in_namespace(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "forked"))
		return by_fork(argv[0], argv[2]);
	if (argc == 4 && !strcmp(argv[1], "awaited"))
		return awaited(argv[0], argv[2], (int)strtol(argv[3], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "crashing"))
		return crashing(argv[0], argv[2]);
	if (argc == 3 && !strcmp(argv[1], "itself"))
		return loop(20) && !rename(argv[2], argv[0]) && loop(20) ? 0 : 3;
#ifndef WITHOUT_LOADER
	if (argc >= 3)
		return with_library(argv[1], argv[2], argv[3]);
#endif
	return 2;
}
