/* SPDX-License-Identifier: MIT */
/*
 * Threads and processes, one pattern in each mode:
 *
 * locks    four threads share a mutex
 * spin     one thread waits without a system call for another thread's work
 * pool     two hundred short threads, five at a time
 * storm    forty children that end at once
 * spawn    vfork and exec, by hand and by posix_spawn, and their statuses
 * exec     a thread that is not the first one calls exec
 * group    a process ends while its threads run
 * leader   the first thread ends before the others
 * daemon   a child that outlives the command
 * alarm    a signal every millisecond
 * serve    eight threads that work, sleep and fork until standard input ends
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long locked;
static atomic_long counted;
static atomic_int go;
static volatile sig_atomic_t alarms;
static int turns;

static void *add_locked(void *arg)
{
	int i;

	for (i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		locked++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *count(void *arg)
{
	atomic_fetch_add(&counted, 1);
	return arg;
}

static void *spin(void *arg)
{
	while (!atomic_load(&go))
		;
	return arg;
}

static void *exec_echo(void *arg)
{
	char *const argv[] = { (char *)"echo", (char *)"execed", NULL };

	(void)execv("/bin/echo", argv);
	return arg;
}

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static void run_threads(size_t n, void *(*fn)(void *))
{
	pthread_t t[8];
	size_t i;

	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, fn, NULL))
			exit(2);
	for (i = 0; i < n; i++)
		(void)pthread_join(t[i], NULL);
}

static void start_thread(void *(*fn)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL))
		exit(2);
}

static void idle(int n)
{
	volatile int i;

	for (i = 0; i < n; i++)
		;
}

static void storm(void)
{
	int i, status, n = 0;

	for (i = 0; i < 40; i++)
		if (!fork())
			_exit(i);
	for (i = 0; wait(&status) > 0; i++)
		n += WEXITSTATUS(status);
	printf("%d children, sum %d\n", i, n);
}

/* The child shares our memory until its exec, and we do not run until then. */
static pid_t vfork_exec(char *const *argv)
{
	static volatile int from_child;
	pid_t pid;

	from_child = 0;
	pid = vfork(); /* NOLINT: it is what this is about */
	if (!pid) {
		from_child = 1;
		(void)execv(argv[0], argv);
		_exit(127);
	}
	printf("child was here: %d\n", from_child);
	return pid;
}

static void spawn(void)
{
	char *const yes[] = { (char *)"/bin/true", NULL };
	char *const no[] = { (char *)"/bin/false", NULL };
	int i;

	/* A step tracer needs seconds for each: their loader takes a hundred thousand steps. */
	for (i = 0; i < 2; i++) {
		int status = -1;
		pid_t pid;

		if (i == 0)
			pid = vfork_exec(yes);
		else if (posix_spawn(&pid, no[0], NULL, NULL, no, NULL))
			exit(2);
		(void)waitpid(pid, &status, 0);
		printf("status %d\n", WEXITSTATUS(status));
	}
}

/* Ends only when its standard input, which belongs to the test, ends. */
static void be_daemon(void)
{
	char c;

	if (fork())
		return;
	(void)setsid();
	while (read(0, &c, 1) > 0)
		;
	(void)!write(1, "daemon ends\n", 12);
	_exit(0);
}

static void alarm_often(void)
{
	const struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
	const struct itimerval off = { { 0, 0 }, { 0, 0 } };
	const struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	(void)sigaction(SIGALRM, &sa, NULL);
	(void)setitimer(ITIMER_REAL, &each, NULL);
	while (alarms <
	       100) /* few branches for the running time, because the test reads a list of them */
		__asm__ volatile(".rept 1000; lock incl %0; .endr" : "+m"(turns));
	(void)setitimer(ITIMER_REAL, &off, NULL);
}

static void *serve(void *arg)
{
	const struct timespec nap = { 0, 200000 };
	int i;

	for (i = 0; !atomic_load(&go); i++) {
		idle(20);
		if (i % 4 == 0)
			(void)nanosleep(&nap, NULL);
		atomic_fetch_add(&counted, 1);
	}
	return arg;
}

static __attribute__((noinline)) void answer(void)
{
	if (!fork())
		_exit(0);
	(void)!write(1, "forked\n", 7);
}

static __attribute__((noinline)) void answered(void)
{
	__asm__ volatile(""); /* a place, for --to */
}

/* Makes a thousand system calls while the other threads do a thousand rounds. */
static void work(void)
{
	const long until = atomic_load(&counted) + 1000;
	int i;

	for (i = 0; i < 1000 || atomic_load(&counted) < until; i++)
		(void)getppid();
	if (__builtin_ia32_readeflags_u64() & 0x100) /* TF */
		_exit(3);
	(void)!write(1, "worked\n", 7);
}

/* The first thread reads: w asks for work, any other byte for a child. */
static void be_server(void)
{
	pthread_t t[8];
	size_t i;
	char c;

	for (i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, serve, NULL))
			exit(2);
	(void)!write(1, "ready\n", 6);
	while (read(0, &c, 1) > 0) {
		if (c == 'w') {
			work();
			continue;
		}
		answer();
		answered();
	}
	atomic_store(&go, 1);
	for (i = 0; i < 8; i++)
		(void)pthread_join(t[i], NULL);
	while (wait(NULL) > 0)
		;
	(void)!write(1, "done\n", 5);
	_exit(7);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int i;

	if (!strcmp(mode, "locks")) {
		run_threads(4, add_locked);
		printf("%ld\n", locked);
	} else if (!strcmp(mode, "spin")) {
		start_thread(spin);
		idle(3000);
		atomic_store(&go, 1);
	} else if (!strcmp(mode, "pool")) {
		for (i = 0; i < 40; i++)
			run_threads(5, count);
		printf("%ld\n", atomic_load(&counted));
	} else if (!strcmp(mode, "storm")) {
		storm();
	} else if (!strcmp(mode, "spawn")) {
		spawn();
	} else if (!strcmp(mode, "exec")) {
		start_thread(exec_echo);
		for (;;)
			(void)pause();
	} else if (!strcmp(mode, "group")) {
		for (i = 0; i < 3; i++)
			start_thread(spin);
		idle(2000);
		_exit(9);
	} else if (!strcmp(mode, "leader")) {
		start_thread(add_locked);
		pthread_exit(NULL);
	} else if (!strcmp(mode, "daemon")) {
		be_daemon();
		(void)!write(1, "left\n", 5);
		_exit(0);
	} else if (!strcmp(mode, "serve")) {
		be_server();
	} else if (!strcmp(mode, "alarm")) {
		alarm_often();
	} else {
		return 2;
	}
	return 0;
}
