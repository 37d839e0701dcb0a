/* SPDX-License-Identifier: MIT */
/*
 * Description: the page's clock is read consistently while the kernel changes it.
 *
 * One thread writes the page as the kernel does: lock odd, fields, lock even. All fields of one
 * write have the same number. The other thread reads.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/host/timepage.h"

enum { TICKS = CLOCKS_PER_SEC / 2, CHANGES = 10 }; /* in CPU time; least number of changes to see */

static struct perf_event_mmap_page page;
static bool done;

static void write_once(uint16_t n)
{
	const uint32_t seq = page.lock;

	__atomic_store_n(&page.lock, seq + 1, __ATOMIC_RELEASE);
	/* Each store is a release: it must not move before the odd lock. */
	__atomic_store_n(&page.time_shift, n % 32, __ATOMIC_RELEASE);
	__atomic_store_n(&page.time_mult, (uint32_t)n + 1, __ATOMIC_RELEASE);
	if (n % 16 == 0)
		(void)sched_yield(); /* the reader shall see this state */
	__atomic_store_n(&page.time_zero, n, __ATOMIC_RELEASE);
	__atomic_store_n(&page.lock, seq + 2, __ATOMIC_RELEASE);
}

static void *writer(void *arg)
{
	uint16_t n = 0;

	(void)arg;
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		write_once(n++);
		if (n % 64 == 0)
			(void)sched_yield(); /* and a pause between writes */
	}
	return NULL;
}

int main(void)
{
	struct ptc_time_conv tc;
	pthread_t thread;
	int i, changes = 0;
	uint64_t last = 0;

	page.cap_user_time_zero = 1;
	write_once(0);
	if (pthread_create(&thread, NULL, writer, NULL)) {
		perror("pthread_create");
		return 1;
	}
	for (i = 0; clock() < TICKS || changes < CHANGES; i++) {
		if (!ptc_timepage_read(&page, &tc) || tc.mult != tc.zero + 1 ||
		    tc.shift != tc.zero % 32) {
			fprintf(stderr, "read %d: shift %d, mult %u, zero %llu\n", i, tc.shift,
				tc.mult, (unsigned long long)tc.zero);
			return 1;
		}
		changes += tc.zero != last;
		last = tc.zero;
		if (i % 64 == 0)
			(void)sched_yield();
	}
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	(void)pthread_join(thread, NULL);
	return 0;
}
