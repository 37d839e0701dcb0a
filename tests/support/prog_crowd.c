/* SPDX-License-Identifier: MIT */
/*
 * Many threads, and much code: prog_crowd MODE N [BUSY].
 *
 * crowd   N threads at once, then another one, which maps code that the first thread runs
 * churn   N threads one after the other, while BUSY (three) others never rest
 * on      the same without an end; N more threads when the input ends
 * turns   N threads, of which N-1 sleep; for each byte of input the first one calls functions, many
 *         for 'f', and answers with a byte
 * forks   N processes one after the other
 * grow    N different pages of code, mapped by one thread and run by three others;
 *         at the same time two more threads do that with two versions at one place
 * flip    code that is changed N times, between two versions
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RUNNERS = 3, STACK = 64 << 10, FILL = 4000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER, changed = PTHREAD_COND_INITIALIZER;
static int here;
static bool go;
static atomic_bool enough;
static pthread_barrier_t turn, flipped;
static unsigned char *place;
static int flips;
static atomic_int bad;
static _Atomic(unsigned char *) code;
static atomic_int version;

/* Writes a function that returns @n. */
static void write_code(unsigned char *p, int n)
{
	const unsigned char bytes[] = { 0xb8, 0, 0, 0, 0, 0xc3 };

	memcpy(p, bytes, sizeof(bytes));
	memcpy(p + 1, &n, sizeof(n));
}

static int run(const unsigned char *p)
{
	union {
		const unsigned char *p;
		int (*f)(void);
	} u = { p };

	return u.f();
}

static unsigned char *map(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	return p;
}

static pthread_t start(void *(*fn)(void *))
{
	pthread_attr_t attr;
	pthread_t t;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK) ||
	    pthread_create(&t, &attr, fn, NULL))
		exit(2);
	(void)pthread_attr_destroy(&attr);
	return t;
}

static void *stand(void *arg)
{
	(void)pthread_mutex_lock(&lock);
	here++;
	(void)pthread_cond_signal(&came);
	while (!go)
		(void)pthread_cond_wait(&changed, &lock);
	(void)pthread_mutex_unlock(&lock);
	return arg;
}

static void *map_code(void *arg)
{
	unsigned char *p = map();

	write_code(p, 42);
	atomic_store(&code, p);
	return arg;
}

static void crowd(int n)
{
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	int i;

	if (!t)
		exit(2);
	for (i = 0; i < n; i++)
		t[i] = start(stand);
	(void)pthread_mutex_lock(&lock);
	while (here < n)
		(void)pthread_cond_wait(&came, &lock);
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_join(start(map_code), NULL);
	printf("%d threads, code %d\n", here, run(atomic_load(&code)));
	(void)pthread_mutex_lock(&lock);
	go = true;
	(void)pthread_cond_broadcast(&changed);
	(void)pthread_mutex_unlock(&lock);
	for (i = 0; i < n; i++)
		(void)pthread_join(t[i], NULL);
	free(t);
}

static void *never_rest(void *arg)
{
	while (!atomic_load(&enough))
		;
	return arg;
}

static void *come_and_go(void *arg)
{
	here++;
	return arg;
}

static bool has_input(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

static void churn(int n, int nbusy, bool on)
{
	pthread_t busy[RUNNERS];
	int i;

	for (i = 0; i < nbusy; i++)
		busy[i] = start(never_rest);
	while (on && !has_input())
		(void)pthread_join(start(come_and_go), NULL);
	for (i = 0; i < n; i++)
		(void)pthread_join(start(come_and_go), NULL);
	atomic_store(&enough, true);
	for (i = 0; i < nbusy; i++)
		(void)pthread_join(busy[i], NULL);
	printf("%d came\n", here);
}

static void turns(int n)
{
	unsigned char *p = map();
	char what;
	int i;

	for (i = 1; i < n; i++)
		(void)start(stand);
	write_code(p, 1);
	while (read(0, &what, 1) == 1) {
		for (i = what == 'f' ? FILL : 10; i > 0; i--)
			(void)run(p);
		if (write(1, &what, 1) != 1)
			exit(2);
	}
	exit(0); /* the others never wake up */
}

static __attribute__((noinline)) void born(void)
{
	__asm__ volatile(""); /* a place that only children reach */
}

static void forks(int n)
{
	int i, status, sum = 0;

	for (i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (!pid) {
			born();
			_exit(1);
		}
		if (waitpid(pid, &status, 0) == pid)
			sum += WEXITSTATUS(status);
	}
	printf("%d forked\n", sum);
}

/* Runs each version between two barriers; version 0 is the end. */
static void *run_all(void *arg)
{
	int v;

	while ((void)pthread_barrier_wait(&turn), v = atomic_load(&version)) {
		if (run(atomic_load(&code)) != v)
			atomic_store(&bad, 1);
		(void)pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *run_flipped(void *arg)
{
	for (;;) {
		(void)pthread_barrier_wait(&flipped);
		if (flips < 0)
			return arg;
		if (run(place) != flips % 2)
			atomic_store(&bad, 1);
		(void)pthread_barrier_wait(&flipped);
	}
}

/* Maps new memory for each version. */
static void *map_flipped(void *arg)
{
	const pthread_t runner = start(run_flipped);

	place = map();
	for (flips = 0; !atomic_load(&enough); flips++) {
		if (mmap(place, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			exit(2);
		write_code(place, flips % 2);
		(void)pthread_barrier_wait(&flipped);
		(void)pthread_barrier_wait(&flipped);
	}
	flips = -1;
	(void)pthread_barrier_wait(&flipped);
	(void)pthread_join(runner, NULL);
	return arg;
}

static void grow(int n)
{
	pthread_t t[RUNNERS], flipper;
	int i;

	if (pthread_barrier_init(&turn, NULL, RUNNERS + 1) ||
	    pthread_barrier_init(&flipped, NULL, 2))
		exit(2);
	flipper = start(map_flipped);
	for (i = 0; i < RUNNERS; i++)
		t[i] = start(run_all);
	for (i = 1; i <= n; i++) {
		unsigned char *p = map();

		write_code(p, i);
		atomic_store(&code, p);
		atomic_store(&version, i);
		(void)pthread_barrier_wait(&turn);
		(void)pthread_barrier_wait(&turn);
		(void)munmap(p, PAGE);
	}
	atomic_store(&enough, true);
	(void)pthread_join(flipper, NULL);
	atomic_store(&version, 0);
	(void)pthread_barrier_wait(&turn);
	for (i = 0; i < RUNNERS; i++)
		(void)pthread_join(t[i], NULL);
	printf("%d grown, %d bad\n", n, atomic_load(&bad));
}

static void flip(int n)
{
	unsigned char *p = map();
	int i, sum = 0;

	for (i = 0; i < n; i++) {
		write_code(p, i % 2);
		sum += run(p);
	}
	printf("%d of %d\n", sum, n);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	const int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	const int nbusy = argc > 3 ? (int)strtol(argv[3], NULL, 10) : RUNNERS;

	if (nbusy < 0 || nbusy > RUNNERS)
		return 2;
	if (!strcmp(mode, "crowd"))
		crowd(n);
	else if (!strcmp(mode, "churn"))
		churn(n, nbusy, false);
	else if (!strcmp(mode, "on"))
		churn(n, nbusy, true);
	else if (!strcmp(mode, "turns"))
		turns(n);
	else if (!strcmp(mode, "forks"))
		forks(n);
	else if (!strcmp(mode, "grow"))
		grow(n);
	else if (!strcmp(mode, "flip"))
		flip(n);
	else
		return 2;
	return 0;
}
