/* SPDX-License-Identifier: MIT */
/*
 * prog_laps THREADS: prints "ready" and its pid. Then each byte of its input makes all threads
 * work: s a little, l more, g much, which prints "go" first. Prints "done" when all threads
 * are ready. At the end of the input it exits with status 7. No two stretches of its control
 * flow are alike, so that the position of a part in the whole is known.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SMALL = 40, LARGE = 20000, MUCH = 120000, THREADS_MAX = 16 };

static pthread_barrier_t barrier;
static int rounds; /* amount of work; 0: the end */

static uint64_t odd(uint64_t x)
{
	return x & 4 ? x * 3 + 1 : x ^ 5;
}

static uint64_t even(uint64_t x)
{
	return x & 8 ? x + 77 : x >> 1;
}

static uint64_t third(uint64_t x)
{
	if (x % 3)
		(void)syscall(SYS_getppid);
	return x;
}

static void work(uint64_t *seed)
{
	static uint64_t (*volatile const fns[])(uint64_t) = { odd,  even, odd,	odd,
							      even, odd,  even, third };
	volatile uint64_t sum = 0;
	int i;

	for (i = 0; i < rounds; i++) {
		*seed = *seed * 6364136223846793005 + 1442695040888963407;
		sum = sum + fns[*seed >> 61](*seed >> 30);
	}
}

static void *worker(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	for (;;) {
		(void)pthread_barrier_wait(&barrier);
		if (!rounds)
			return NULL;
		work(&seed);
		(void)pthread_barrier_wait(&barrier);
	}
}

static void say(const char *text)
{
	(void)!write(STDOUT_FILENO, text, strlen(text));
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
	pthread_t threads[THREADS_MAX];
	uint64_t seed = 1;
	char c;
	int i;

	(void)pthread_barrier_init(&barrier, NULL, (unsigned int)n);
	for (i = 1; i < n && i < THREADS_MAX; i++)
		(void)pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)(i + 1));
	(void)dprintf(STDOUT_FILENO, "ready %d\n", (int)getpid());
	while (read(STDIN_FILENO, &c, 1) == 1) {
		rounds = c == 's' ? SMALL : c == 'l' ? LARGE : MUCH;
		if (c == 'g')
			say("go\n");
		(void)pthread_barrier_wait(&barrier);
		work(&seed);
		(void)pthread_barrier_wait(&barrier);
		say("done\n");
	}
	rounds = 0;
	(void)pthread_barrier_wait(&barrier);
	for (i = 1; i < n && i < THREADS_MAX; i++)
		(void)pthread_join(threads[i], NULL);
	return 7;
}
