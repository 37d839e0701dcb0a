/* SPDX-License-Identifier: MIT */
/* threads: two threads take turns, three turns each. traces/ has a recording of this program. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn; /* 0: main's turn, 1: the other thread's; lock protects it */

static int square(int n)
{
	return n * n;
}

static int play(int me)
{
	int i, sum = 0;

	for (i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		while (turn != me)
			pthread_cond_wait(&changed, &lock);
		sum += square(i);
		turn = !me;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return sum;
}

static void *other(void *sum)
{
	*(int *)sum = play(1);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int mine, theirs = 0;

	if (pthread_create(&thread, NULL, other, &theirs))
		return 1;
	mine = play(0);
	pthread_join(thread, NULL);
	printf("%d %d\n", mine, theirs);
	return 0;
}
