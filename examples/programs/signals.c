/* SPDX-License-Identifier: MIT */
/*
 * signals: sends itself a signal, and divides by zero. A handler repairs the division.
 * traces/ has a recording of this program.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf before_division;
static volatile sig_atomic_t signals;

static void count(void)
{
	signals++;
}

static void on_usr1(int sig)
{
	(void)sig;
	count();
}

static void on_fpe(int sig)
{
	(void)sig;
	count();
	siglongjmp(before_division, 1);
}

static int divide(volatile int a, volatile int b)
{
	return a / b;
}

int main(void)
{
	volatile int result = -1;

	signal(SIGUSR1, on_usr1);
	signal(SIGFPE, on_fpe);
	raise(SIGUSR1);
	if (!sigsetjmp(before_division, 1))
		result = divide(1, 0);
	printf("%d signals, result %d\n", (int)signals, result);
	return 0;
}
