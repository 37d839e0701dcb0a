// SPDX-License-Identifier: MIT
// A thread overflows its stack. The main thread waits for it.
#include <limits.h>
#include <pthread.h>

static int walk(volatile int *n)
{
	volatile char room[512];

	room[*n % 512] = 1;
	++*n;
	return walk(n) + room[*n % 512];
}

static void *starts(void *n)
{
	*(volatile int *)n = walk(n);
	return NULL;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int n = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	pthread_create(&thread, &attr, starts, &n);
	pthread_join(thread, NULL);
	return n;
}
