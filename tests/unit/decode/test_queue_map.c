/* SPDX-License-Identifier: MIT */
/* Description: the queue that a sideband record is about. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>

#include "auxtrace/record/sideband.h"
#include "decode/sideband/queue_map.h"

static struct ptc_queue_map map;

static void end(void)
{
	ptc_queue_map_release(&map);
}

TestSuite(queue_map, .fini = end);

static size_t find(int32_t tid, uint32_t cpu)
{
	const struct ptc_sample_id id = { .has = PERF_SAMPLE_TID | PERF_SAMPLE_CPU,
					  .tid = tid,
					  .cpu = cpu };

	return ptc_queue_map_find(&map, &id);
}

Test(queue_map, without_queues_a_record_is_about_none)
{
	cr_assert_eq(find(10, 1), SIZE_MAX);
}

Test(queue_map, a_record_is_about_the_queue_of_its_thread_or_cpu)
{
	cr_assert(ptc_queue_map_add(&map, 10, -1));
	cr_assert(ptc_queue_map_add(&map, 11, -1));
	cr_assert(ptc_queue_map_add(&map, -1, 1));
	cr_assert_eq(find(11, 7), 1);
	cr_assert_eq(find(99, 1), 2);
}

Test(queue_map, a_record_of_an_unknown_thread_is_about_the_first_queue)
{
	const struct ptc_sample_id id = { .has = PERF_SAMPLE_TID, .tid = -1 };

	cr_assert(ptc_queue_map_add(&map, 10, -1));
	cr_assert_eq(find(99, 9), 0);
	cr_assert_eq(ptc_queue_map_find(&map, &id), 0);
}

Test(queue_map, of_two_queues_of_a_thread_the_first_is_found)
{
	cr_assert(ptc_queue_map_add(&map, 10, 0));
	cr_assert(ptc_queue_map_add(&map, 10, 1));
	cr_assert_eq(find(10, 1), 0);
	cr_assert_eq(map.n, 2);
}
