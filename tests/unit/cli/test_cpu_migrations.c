/* SPDX-License-Identifier: MIT */
/*
 * Description: since when the trace of a thread is complete, if it ran on several CPUs whose rings
 * begin at different times.
 */
#include <criterion/criterion.h>

#include "cli/common/cpu_migrations.h"

static void take(struct ptc_moves *m, int32_t tid, uint32_t cpu, uint64_t time, bool out)
{
	const struct ptc_sb sb = {
		.type = PERF_RECORD_SWITCH,
		.misc = out ? PERF_RECORD_MISC_SWITCH_OUT : 0,
		.id = { .has = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
			.pid = 1,
			.tid = tid,
			.cpu = cpu,
			.time = time },
	};

	cr_assert(ptc_moves_take(m, &sb));
}

static void ran(struct ptc_moves *m, int32_t tid, uint32_t cpu, uint64_t in, uint64_t out)
{
	if (in)
		take(m, tid, cpu, in, false);
	if (out)
		take(m, tid, cpu, out, true);
}

/* Expects that @tid has missing trace from before @ns, from its time on @cpu. */
static void expect(struct ptc_moves *m, int32_t tid, uint64_t ns, int32_t cpu)
{
	const struct ptc_moved *f;

	cr_assert(ptc_moves_settle(m));
	f = ptc_moves_find(m, tid);
	cr_assert_not_null(f);
	cr_assert(f->ns == ns && f->cpu == cpu, "%lu on %d", f->ns, (int)f->cpu);
}

static void expect_none(struct ptc_moves *m, int32_t tid)
{
	cr_assert(ptc_moves_settle(m));
	cr_assert_null(ptc_moves_find(m, tid));
}

Test(cpu_migrations, what_a_ring_has_from_the_beginning_is_there)
{
	struct ptc_moves m = { .n = 0 };

	ran(&m, 7, 0, 100, 200);
	ran(&m, 7, 1, 300, 400);
	expect_none(&m, 7);
	cr_assert(ptc_moves_begin(&m, 0, 100)); /* it came at exactly that time */
	expect_none(&m, 7);
	ptc_moves_release(&m);
}

Test(cpu_migrations, until_it_left_a_ring_that_is_overwritten)
{
	struct ptc_moves m = { .n = 0 };

	ran(&m, 7, 0, 100, 200);
	ran(&m, 7, 1, 300, 400);
	ran(&m, 8, 0, 250, 900);
	cr_assert(ptc_moves_begin(&m, 0, 500));
	expect(&m, 7, 200, 0);
	expect(&m, 8, 500, 0);
	ptc_moves_release(&m);
}

Test(cpu_migrations, the_last_of_several_counts)
{
	struct ptc_moves m = { .n = 0 };

	ran(&m, 7, 2, 450, 460);
	ran(&m, 7, 0, 100, 200);
	ran(&m, 9, 0, 210, 220);
	ran(&m, 7, 0, 300, 350);
	ran(&m, 7, 1, 400, 420);
	cr_assert(ptc_moves_begin(&m, 0, 1000));
	cr_assert(ptc_moves_begin(&m, 1, 410));
	expect(&m, 7, 410, 1);
	expect(&m, 9, 220, 0);
	ptc_moves_release(&m);
}

Test(cpu_migrations, nobody_says_when_it_came_or_that_it_left)
{
	struct ptc_moves m = { .n = 0 };

	ran(&m, 7, 0, 0, 200); /* no switch-in: it was already running */
	ran(&m, 8, 1, 300, 0); /* no switch-out: it still runs */
	cr_assert(ptc_moves_begin(&m, 0, 100));
	cr_assert(ptc_moves_begin(&m, 1, UINT64_MAX)); /* its ring has no PSB */
	expect(&m, 7, 100, 0);
	expect(&m, 8, UINT64_MAX, 1);
	ran(&m, 9, 1, 400, 500); /* 9 runs here now: 8's switch-out was lost */
	expect(&m, 8, 400, 1);
	ran(&m, 9, 0, 600, 0);
	ran(&m, 10, 0, 0, 700); /* 10's switch-in was lost */
	expect(&m, 10, 100, 0);
	ptc_moves_release(&m);
}

Test(cpu_migrations, what_says_nothing_of_threads_is_ignored)
{
	struct ptc_moves m = { .n = 0 };
	struct ptc_sb sb = { .type = PERF_RECORD_COMM, .id = { .has = UINT64_MAX, .tid = 7 } };

	cr_assert(ptc_moves_take(&m, &sb));
	sb.type = PERF_RECORD_SWITCH;
	sb.id.has &= ~(uint64_t)PERF_SAMPLE_CPU;
	cr_assert(ptc_moves_take(&m, &sb));
	ran(&m, 0, 0, 100, 200); /* the idle task */
	cr_assert_eq(m.n, 0);
	cr_assert(ptc_moves_begin(&m, 0, 500));
	expect_none(&m, 0);
	ptc_moves_release(&m);
}

Test(cpu_migrations, many)
{
	struct ptc_moves m = { .n = 0 };
	int32_t tid;

	for (tid = 1; tid <= 1000; tid++)
		ran(&m, tid, (uint32_t)tid % 3, (uint64_t)tid * 10, (uint64_t)tid * 10 + 5);
	cr_assert(ptc_moves_begin(&m, 1, 5000));
	for (tid = 1; tid <= 1000; tid++)
		if (tid % 3 == 1 && tid < 500)
			expect(&m, tid, (uint64_t)tid * 10 + 5, 1);
		else
			expect_none(&m, tid);
	ptc_moves_release(&m);
}
