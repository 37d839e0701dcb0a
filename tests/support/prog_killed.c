/* SPDX-License-Identifier: MIT */
/*
 * prog_killed SIGNAL: one thread waits in read(2), one thread counts up, and the main thread sends
 * the signal to the process while it waits in pause(2).
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static volatile uint64_t counted;
static int fds[2];

static void *reads(void *arg)
{
	char c;

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

static void *sends(void *sig)
{
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
	while (!counted)
		;
	(void)pthread_create(&t, NULL, sends, (void *)(intptr_t)sig);
	for (;;)
		(void)pause();
	return 0;
}
