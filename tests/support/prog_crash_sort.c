/* SPDX-License-Identifier: MIT */
/*
 * prog_crash_sort MODE [core]: a thread dies in the function that qsort() calls, so frames of libc
 * are between frames of the program. Then the two other threads wait in libc. With "core" a core
 * dump is allowed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

static int *volatile nowhere;
static volatile int shared, waiter;

ALONE static int compares(const void *a, const void *b)
{
	const int difference = *(const int *)a - *(const int *)b;

	nowhere[4] = 1;
	return difference;
}

/* Returns true if thread @tid sleeps in the kernel (proc(5), stat). */
static bool is_asleep(int tid)
{
	char path[64], text[512];
	const char *name_end;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && !strncmp(name_end, ") S", 3);
}

static void *waits(void *fd)
{
	char c;

	waiter = gettid();
	(void)!read((int)(intptr_t)fd, &c, 1);
	return NULL;
}

ALONE static void *sorts(void *arg)
{
	int numbers[] = { 4, 3, 2, 1 };

	while (!waiter || !is_asleep(waiter) || !is_asleep(getpid()))
		(void)sched_yield();
	qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), compares);
	shared = numbers[0];
	return arg;
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	pthread_t t;
	int fds[2];

	if (strcmp(argv[argc - 1], "core") != 0)
		(void)setrlimit(RLIMIT_CORE, &none);
	(void)!pipe(fds);
	(void)pthread_create(&t, NULL, waits, (void *)(intptr_t)fds[0]);
	(void)pthread_create(&t, NULL, sorts, NULL);
	(void)pthread_join(t, NULL);
	return 0;
}
