/* SPDX-License-Identifier: MIT */
/*
 * A thread that nothing wakes: it waits in vfork for a child, which reads its input to the end.
 * Meanwhile another thread writes to address 0.
 */
#include <pthread.h>
#include <unistd.h>

static int told[2];

static void *wait_for_child(void *arg)
{
	const pid_t pid = vfork();
	char c = 0;

	if (!pid) {
		(void)!write(told[1], &c, 1);
		while (read(STDIN_FILENO, &c, 1) > 0)
			;
		_exit(0);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	char c;

	if (pipe(told) || pthread_create(&thread, NULL, wait_for_child, NULL))
		return 1;
	if (read(told[0], &c, 1) == 1)
		*(volatile int *)0 = 1;
	return 2;
}
