/* SPDX-License-Identifier: MIT */
/* longjmp out of calls, and out of a signal handler. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static jmp_buf far_up;
static sigjmp_buf out;

static void deep(int n)
{
	if (!n)
		longjmp(far_up, 3);
	deep(n - 1);
	abort(); /* keeps the call above from becoming a jump */
}

static void handler(int sig)
{
	siglongjmp(out, sig);
}

int main(void)
{
	volatile int sum = 0;
	int r;

	r = setjmp(far_up);
	if (!r)
		deep(70);
	sum += r;
	signal(SIGUSR1, handler);
	r = sigsetjmp(out, 1);
	if (!r)
		raise(SIGUSR1);
	sum += r;
	return sum == 3 + SIGUSR1 ? 0 : 1;
}
