/* SPDX-License-Identifier: MIT */
/* Description: the memory of a ring's copy is ready before the copy, and serves the next one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "capture/session/ring_copy.h"

enum { SIZE = 4 << 20, PAGE = 4096 };

static long faults(void)
{
	struct rusage u;

	cr_assert_eq(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_minflt;
}

/* Returns the number of pages of @c that are in memory. */
static size_t resident(const struct ptc_ring_copy *c)
{
	unsigned char pages[SIZE / PAGE];
	size_t i, n = 0;

	cr_assert_eq(mincore(c->bytes, SIZE, pages), 0);
	for (i = 0; i < SIZE / PAGE; i++)
		n += pages[i] & 1;
	return n;
}

/* Makes a ring of @c's size: a window that wraps at @at. */
static void window(const uint8_t *ring, size_t at, struct ptc_seg seg[2])
{
	seg[0] = (struct ptc_seg){ ring + at, SIZE - at };
	seg[1] = (struct ptc_seg){ ring, at };
}

Test(ring_copy, a_copy_waits_for_no_page)
{
	struct ptc_ring_copy c = PTC_RING_COPY_INIT;
	uint8_t *ring = malloc(SIZE);
	struct ptc_seg seg[2];
	long fewest = SIZE;
	int round;

	memset(ring, 1, SIZE);
	cr_assert(ptc_ring_copy_reserve(&c, SIZE) && !c.len);
	cr_assert_gt(resident(&c), 0, "the memory is ready before the first copy");
	for (round = 0; round < 3; round++) {
		const size_t at = (size_t)round * PAGE + 1;
		const uint8_t *bytes = c.bytes;
		long before;

		ring[at] = (uint8_t)(round + 2);
		window(ring, at, seg);
		before = faults();
		ptc_ring_copy_set(&c, seg);
		before = faults() - before;
		fewest = before < fewest ? before : fewest;
		cr_assert_eq(c.len, SIZE);
		cr_assert_eq(c.bytes[0], round + 2);
		cr_assert(!memcmp(c.bytes + SIZE - at, ring, at), "the second part follows");
		ptc_ring_copy_clear(&c);
		cr_assert(ptc_ring_copy_reserve(&c, SIZE / 2) && c.bytes == bytes, "it is kept");
		cr_assert_eq(c.len, 0);
	}
	/* Without need the kernel does not take the memory back in each round. */
	cr_assert_lt(fewest, 64, "of %d pages", SIZE / PAGE);
	free(ring);
	ptc_ring_copy_release(&c);
	cr_assert(!c.bytes && !c.cap);
}

/* MADV_DONTNEED takes the pages that the kernel may take. */
Test(ring_copy, a_copy_needs_nothing_of_an_earlier_one)
{
	struct ptc_ring_copy c = PTC_RING_COPY_INIT;
	uint8_t *ring = malloc(SIZE);
	struct ptc_seg seg[2];

	memset(ring, 7, SIZE);
	cr_assert(ptc_ring_copy_reserve(&c, SIZE));
	cr_assert_eq(madvise(c.bytes, SIZE, MADV_DONTNEED), 0);
	window(ring, 100, seg);
	ptc_ring_copy_set(&c, seg);
	cr_assert(c.len == SIZE && !memcmp(c.bytes, ring, SIZE));
	seg[0].len = 3;
	seg[1] = (struct ptc_seg){ NULL, 0 };
	ptc_ring_copy_set(&c, seg);
	cr_assert_eq(c.len, 3, "a shorter one");
	free(ring);
	ptc_ring_copy_release(&c);
}

Test(ring_copy, no_memory_is_told)
{
	struct ptc_ring_copy c = PTC_RING_COPY_INIT;

	cr_assert_not(ptc_ring_copy_reserve(&c, (size_t)1 << 60));
	ptc_ring_copy_clear(&c);
	ptc_ring_copy_release(&c);
}
