/* SPDX-License-Identifier: MIT */
/*
 * Like a libc with all signals blocked: threads and a spawned program (argv[1]). The
 * handler of SIGTRAP must stay installed, and no thread may see another thread's
 * mask.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static volatile sig_atomic_t traps;

static void on_trap(int sig)
{
	(void)sig;
	traps++;
}

static int blocked(void)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGTRAP);
}

static void *blocks(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGTRAP);
	*(int *)arg = blocked();
	return NULL;
}

static void *traps_itself(void *arg)
{
	raise(SIGTRAP);
	__asm__ volatile("int3");
	*(int *)arg = blocked();
	return NULL;
}

static int run(void *(*f)(void *))
{
	pthread_t thread;
	int seen = -1;

	if (pthread_create(&thread, NULL, f, &seen) || pthread_join(thread, NULL))
		return -1;
	return seen;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_trap };
	char *const args[] = { argc > 1 ? argv[1] : NULL, (char *)"4", NULL };
	int status = -1;
	pid_t pid;

	sigfillset(&sa.sa_mask);
	sigaction(SIGTRAP, &sa, NULL);
	printf("thread that blocks it: %d\n", run(blocks));
	printf("traps: %d\n", (int)traps);
	printf("thread with traps: %d\n", run(traps_itself));
	printf("traps: %d\n", (int)traps);
	if (argc < 2 || posix_spawn(&pid, argv[1], NULL, NULL, args, environ) ||
	    waitpid(pid, &status, 0) != pid)
		return 9;
	printf("spawned: %d\n", WEXITSTATUS(status));
	raise(SIGTRAP);
	__asm__ volatile("int3");
	sigaction(SIGTRAP, NULL, &sa);
	printf("traps: %d, mine: %d, blocked: %d\n", (int)traps, sa.sa_handler == on_trap,
	       blocked());
	return 0;
}
