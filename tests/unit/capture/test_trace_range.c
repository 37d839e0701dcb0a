/* SPDX-License-Identifier: MIT */
/* Description: where stepping begins and ends, and which places trigger a snapshot. */
#include <criterion/criterion.h>
#include <sys/mman.h>

#include "capture/step/snapshot_points.h"
#include "capture/step/task.h"
#include "capture/step/trace_range.h"

static const struct ptc_place at_1000 = { NULL, 0x1000 }, at_2000 = { NULL, 0x2000 };

/* Each test is a separate process. */
static struct ptc_mm mm;
static struct ptc_task task = { .mm = &mm };

/* The end of @z is 0x2000. Returns true if the task leaves the zone there. */
static bool leaves(struct ptc_zone *z, uint64_t ip)
{
	task.ip = ip;
	return ptc_zone_left(z, &task);
}

Test(trace_range, without_a_beginning_all_is_traced_until_the_end_is_reached)
{
	struct ptc_zone z;

	ptc_zone_init(&z, NULL, &at_2000);
	ptc_zone_resolve(&z, &mm);
	cr_assert(!z.outside && !mm.from && mm.to == 0x2000);
	cr_assert(!leaves(&z, 0x1fff) && !z.over && !z.outside);
	cr_assert(leaves(&z, 0x2000) && z.over && z.outside);
}

Test(trace_range, with_a_beginning_it_may_be_entered_again)
{
	struct ptc_zone z;

	ptc_zone_init(&z, &at_1000, &at_2000);
	ptc_zone_resolve(&z, &mm);
	cr_assert(z.outside && mm.from == 0x1000);
	z.outside = false;
	cr_assert(leaves(&z, 0x2000) && !z.over && z.outside);
}

Test(trace_range, without_an_end_it_is_never_left)
{
	struct ptc_zone z;

	ptc_zone_init(&z, &at_1000, NULL);
	ptc_zone_resolve(&z, &mm);
	cr_assert_eq(mm.to, 0);
	cr_assert(!leaves(&z, 0));
}

Test(trace_range, a_task_in_an_exec_or_without_memory_does_not_leave_it)
{
	struct ptc_zone z;

	ptc_zone_init(&z, NULL, &at_2000);
	ptc_zone_resolve(&z, &mm);
	task.exec_pending = true;
	cr_assert(!leaves(&z, 0x2000));
	task.exec_pending = false;
	task.mm = NULL;
	cr_assert(!leaves(&z, 0x2000));
}

Test(trace_range, a_place_in_a_file_is_where_its_code_is_mapped)
{
	const struct ptc_place place = { "/nowhere/a", 0x1234 };
	/*
	 * A data mapping of the file, its code mapping, and the code of another file at the same
	 * offset.
	 */
	static const char names[] = "/nowhere/b\0/nowhere/a";
	struct ptc_map maps[] = {
		{ .start = 0x70000, .end = 0x72000, .off = 0x1000, .prot = PROT_READ, .name = 11 },
		{ .start = 0x80000,
		  .end = 0x82000,
		  .off = 0x1000,
		  .prot = PROT_READ | PROT_EXEC,
		  .name = 0 },
		{ .start = 0x90000,
		  .end = 0x92000,
		  .off = 0x1000,
		  .prot = PROT_READ | PROT_EXEC,
		  .name = 11 },
	};
	struct ptc_zone z;

	mm.maps = (struct ptc_maps){ .items = maps, .n = 3 };
	mm.maps.text.bytes = (uint8_t *)(uintptr_t)names;
	mm.maps.text.len = sizeof(names);
	ptc_zone_init(&z, &place, NULL);
	ptc_zone_resolve(&z, &mm);
	cr_assert_eq(mm.from, 0x90234);
	maps[2].end = 0x90234; /* one byte too short */
	ptc_zone_resolve(&z, &mm);
	cr_assert_eq(mm.from, 0);
	maps[2].end++;
	ptc_zone_resolve(&z, &mm);
	cr_assert_eq(mm.from, 0x90234);
}

/* The task reaches @ip. Returns true if that triggers a snapshot. */
static bool asks(struct ptc_crossings *c, uint64_t ip)
{
	task.ip = ip;
	task.at_place = false;
	return ptc_crossings_reached(c, &task);
}

Test(crossing, each_place_counts_for_itself)
{
	static const struct ptc_crossing at[] = { { { NULL, 0x1000 }, 2 },
						  { { NULL, 0x2000 }, 0 } };
	const struct ptc_record_opts opts = { .snapshot.at = at, .snapshot.nat = 2 };
	struct ptc_crossings c;

	ptc_crossings_init(&c, &opts);
	ptc_crossings_resolve(&c, &mm);
	cr_assert(!asks(&c, 0x3000));
	cr_assert(!asks(&c, 0x1000) && !c.met, "the first of two");
	cr_assert(asks(&c, 0x2000), "no count: each time");
	cr_assert(asks(&c, 0x1000), "the second");
	cr_assert(!asks(&c, 0x1000));
	cr_assert(c.met);
}

Test(crossing, a_task_that_is_not_about_to_run_the_place_does_not_count)
{
	static const struct ptc_crossing at[] = { { { NULL, 0x1000 }, 1 } };
	const struct ptc_record_opts opts = { .snapshot.at = at, .snapshot.nat = 1 };
	bool *const why[] = { &task.rounds, &task.mid_call, &task.exec_pending };
	struct ptc_crossings c;
	size_t i;

	ptc_crossings_init(&c, &opts);
	ptc_crossings_resolve(&c, &mm);
	for (i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		*why[i] = true;
		cr_assert(!asks(&c, 0x1000));
		*why[i] = false;
	}
	cr_assert_eq(c.seen[0], 0);
	cr_assert(asks(&c, 0x1000));
	cr_assert(task.at_place);
	cr_assert(!ptc_crossings_reached(&c, &task), "once a visit");
	cr_assert_eq(c.seen[0], 1);
}
