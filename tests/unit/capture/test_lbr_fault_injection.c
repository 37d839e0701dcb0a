/* SPDX-License-Identifier: MIT */
/*
 * Description: each kind of injected branch-stack error changes what it claims, no more, and is
 * reported.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "capture/soft/lbr_fault_injection.h"

#include <linux/perf_event.h>

enum { N = 8, ROUNDS = 200 };

struct bench {
	struct ptc_spoiler s;
	struct ptc_branch was[N], e[N];
	uint32_t n;
	struct ptc_spoilt told[PTC_LBR_SHIFT_MAX];
	size_t ntold;
};

static struct ptc_branch entry(uint64_t i)
{
	return (struct ptc_branch){ .from = 0x1000 * (i + 1),
				    .to = 0x1000 * (i + 1) + 0x10,
				    .type = PERF_BR_CALL };
}

static void begin(struct bench *b, struct ptc_lbr_spoil opts)
{
	memset(b, 0, sizeof(*b));
	ptc_spoiler_init(&b->s, &opts);
}

static void take(struct bench *b, uint32_t n)
{
	static const struct ptc_branch other[N] = { { .from = 1, .to = 2 },
						    { .from = 3, .to = 4 },
						    { .from = 5, .to = 6 } };
	uint32_t i;

	for (i = 0; i < N; i++)
		b->was[i] = b->e[i] = entry(i);
	b->n = n;
	b->ntold = ptc_spoiler_take(&b->s, b->e, &b->n, other, 3, b->told);
}

static bool same(const struct ptc_branch *a, const struct ptc_branch *b)
{
	return a->from == b->from && a->to == b->to && a->type == b->type;
}

/* Compares the reported entries with the original ones. */
static void told_truly(const struct bench *b)
{
	size_t k;

	for (k = 0; k < b->ntold; k++) {
		cr_assert_lt(b->told[k].index, N);
		cr_assert_eq(b->told[k].from, b->was[b->told[k].index].from);
		cr_assert_eq(b->told[k].to, b->was[b->told[k].index].to);
	}
}

static unsigned int bits(uint64_t v)
{
	return (unsigned int)__builtin_popcountll(v);
}

/* One entry gets another end. All other entries must be unchanged. */
static void one_end(enum ptc_spoil mode)
{
	struct bench b;
	int round;

	begin(&b, (struct ptc_lbr_spoil){ .mode = mode, .rate = 1 });
	for (round = 0; round < ROUNDS; round++) {
		uint32_t i;

		take(&b, N);
		cr_assert_eq(b.ntold, 1);
		cr_assert_eq(b.n, N);
		told_truly(&b);
		for (i = 0; i < N; i++) {
			const uint64_t from = b.e[i].from ^ b.was[i].from;
			const uint64_t to = b.e[i].to ^ b.was[i].to;
			const bool it = i == b.told[0].index;

			cr_assert_eq(bits(from), it && mode == PTC_SPOIL_SOURCE);
			cr_assert_eq(bits(to), it && mode == PTC_SPOIL_TARGET);
		}
	}
}

Test(lbr_fault_injection, a_target_or_a_source_is_another_one)
{
	one_end(PTC_SPOIL_TARGET);
	one_end(PTC_SPOIL_SOURCE);
}

Test(lbr_fault_injection, a_dropped_entry_is_neither_the_newest_nor_the_oldest)
{
	struct bench b;
	int round;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_DROP, .rate = 1 });
	for (round = 0; round < ROUNDS; round++) {
		uint32_t i;

		take(&b, N);
		cr_assert(b.ntold == 1 && b.n == N - 1);
		told_truly(&b);
		cr_assert(b.told[0].index > 0 && b.told[0].index < N - 1);
		for (i = 0; i < N - 1; i++)
			cr_assert(same(&b.e[i], &b.was[i + (i >= b.told[0].index)]));
	}
	take(&b, 2);
	cr_assert(!b.ntold && b.n == 2);
}

Test(lbr_fault_injection, the_newest_is_there_twice_for_the_oldest)
{
	struct bench b;
	uint32_t i;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_TOP, .rate = 1 });
	take(&b, N);
	cr_assert(b.ntold == 1 && b.n == N && b.told[0].index == 0);
	told_truly(&b);
	for (i = 0; i < N; i++)
		cr_assert(same(&b.e[i], &b.was[i ? i - 1 : 0]));
	take(&b, 1);
	cr_assert_eq(b.ntold, 0, "nothing would change");
	for (i = 0; i < N; i++)
		b.e[i] = entry(0);
	b.n = N;
	cr_assert_eq(ptc_spoiler_take(&b.s, b.e, &b.n, NULL, 0, b.told), 0);
}

Test(lbr_fault_injection, neighbours_are_the_wrong_way_round)
{
	struct bench b;
	int round;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_SWAP, .rate = 1 });
	for (round = 0; round < ROUNDS; round++) {
		uint32_t i, at;

		take(&b, N);
		cr_assert(b.ntold == 2 && b.n == N && b.told[1].index == b.told[0].index + 1);
		told_truly(&b);
		at = b.told[0].index;
		for (i = 0; i < N; i++)
			cr_assert(same(&b.e[i], &b.was[i == at ? i + 1 : i == at + 1 ? at : i]));
	}
	b.e[0] = b.e[1] = entry(0);
	b.n = 2;
	cr_assert_eq(ptc_spoiler_take(&b.s, b.e, &b.n, NULL, 0, b.told), 0, "they are the same");
}

Test(lbr_fault_injection, a_shift_loses_the_newest)
{
	struct bench b;
	uint32_t i;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_SHIFT, .shift = 3, .rate = 1 });
	take(&b, N);
	cr_assert(b.ntold == 3 && b.n == N - 3);
	told_truly(&b);
	for (i = 0; i < b.n; i++)
		cr_assert(same(&b.e[i], &b.was[i + 3]));
	take(&b, 3);
	cr_assert(!b.ntold && b.n == 3, "nothing would be left");
}

Test(lbr_fault_injection, the_oldest_are_another_threads)
{
	struct bench b;
	uint32_t i;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_STALE_OLDEST, .rate = 1 });
	take(&b, N);
	cr_assert(b.ntold == 3 && b.n == N);
	told_truly(&b);
	for (i = 0; i < N - 3; i++)
		cr_assert(same(&b.e[i], &b.was[i]));
	for (; i < N; i++)
		cr_assert_eq(b.e[i].from, 2 * (i - (N - 3)) + 1);
	take(&b, 3);
	cr_assert_eq(b.ntold, 0, "all of it would be stale");
	b.n = N;
	cr_assert_eq(ptc_spoiler_take(&b.s, b.e, &b.n, NULL, 0, b.told), 0, "there is no other");
}

Test(lbr_fault_injection, a_type_is_another_one_or_lost)
{
	struct bench b;
	int round;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_TYPE, .rate = 1 });
	for (round = 0; round < ROUNDS; round++) {
		take(&b, N);
		cr_assert(b.ntold == 1 && b.n == N);
		told_truly(&b);
		cr_assert_neq(b.e[b.told[0].index].type, PERF_BR_CALL);
		cr_assert(b.e[b.told[0].index].type && b.e[b.told[0].index].type < PERF_BR_MAX);
	}
	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_FLAG, .rate = 1 });
	take(&b, N);
	cr_assert_eq(b.ntold, 1);
	cr_assert_eq(b.e[b.told[0].index].type, PERF_BR_UNKNOWN);
}

Test(lbr_fault_injection, one_of_so_many_is_spoilt_and_the_seed_says_which)
{
	unsigned int count = 0, again = 0, other = 0;
	struct bench b, c, d;
	int round;

	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_TARGET, .rate = 10, .seed = 7 });
	begin(&c, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_TARGET, .rate = 10, .seed = 7 });
	begin(&d, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_TARGET, .rate = 10, .seed = 8 });
	for (round = 0; round < 10 * ROUNDS; round++) {
		take(&b, N);
		take(&c, N);
		take(&d, N);
		count += b.ntold != 0;
		again += b.ntold != c.ntold;
		other += b.ntold != d.ntold;
	}
	cr_assert(count > ROUNDS / 2 && count < 2 * ROUNDS, "%u", count);
	cr_assert_eq(again, 0);
	cr_assert_gt(other, 0);
}

Test(lbr_fault_injection, an_empty_stack_and_no_mode_leave_all_as_it_is)
{
	struct bench b;
	enum ptc_spoil mode;

	for (mode = PTC_SPOIL_NONE; mode <= PTC_SPOIL_FLAG; mode++) {
		begin(&b, (struct ptc_lbr_spoil){ .mode = mode, .shift = 1, .rate = 1 });
		take(&b, 0);
		cr_assert(!b.ntold && !b.n);
	}
	begin(&b, (struct ptc_lbr_spoil){ .mode = PTC_SPOIL_NONE });
	take(&b, N);
	cr_assert_eq(b.ntold, 0);
}
