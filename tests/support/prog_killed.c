/* SPDX-License-Identifier: MIT */
/*
 * prog_killed SIGNAL: one thread waits in read(2), one thread counts up, and the main thread sends
 * the signal to the process while it waits in pause(2).
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile uint64_t counted;
static volatile pid_t reader;
static int fds[2];

static void *reads(void *arg)
{
	char c;

	reader = gettid();
	(void)!read(fds[0], &c, 1);
	return arg;
}

/* The count is in memory, on the stack and in rbx. All are equal before each block. */
static void *counts(void *arg)
{
	__asm__ volatile("xor %%ebx, %%ebx\n"
			 "1: inc %%rbx\n"
			 "mov %%rbx, %0\n"
			 "mov %%rbx, -16(%%rsp)\n"
			 "jmp 2f\n"
			 "2: jmp 1b\n"
			 : "=m"(counted)
			 :
			 : "rbx", "memory");
	return arg;
}

/*
 * Waits until a thread is blocked in a system call of its own. /proc shows the number of the call,
 * or "running". QEMU's own locks are futexes.
 */
static void await_call(pid_t tid)
{
	char path[64], text[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
	for (;;) {
		fd = open(path, O_RDONLY);
		n = read(fd, text, sizeof(text) - 1);
		(void)close(fd);
		text[n > 0 ? n : 0] = '\0';
		if (text[0] >= '0' && text[0] <= '9' && strtol(text, NULL, 10) != SYS_futex)
			return;
	}
}

static void *sends(void *sig)
{
	await_call(getpid());
	await_call(reader);
	(void)kill(getpid(), (int)(intptr_t)sig);
	return NULL;
}

int main(int argc, char **argv)
{
	const long sig = argc > 1 ? strtol(argv[1], NULL, 10) : SIGTERM;
	pthread_t t;

	(void)!pipe(fds);
	(void)pthread_create(&t, NULL, reads, NULL);
	(void)pthread_create(&t, NULL, counts, NULL);
	while (!counted || !reader)
		;
	(void)pthread_create(&t, NULL, sends, (void *)(intptr_t)sig);
	for (;;)
		(void)pause();
	return 0;
}
