/* SPDX-License-Identifier: MIT */
/* Description: verdicts add up, and patterns have names. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/compare/compare_stats.h"
#include "decode/lbr/align.h"
#include "decode/lbr/compare_own.h"

enum { N = 4 };

/* Samples of N entries that are steps 5, 3, 2, 1; step 4 is missing. */
struct fixture {
	struct ptc_sample sample;
	struct ptc_branch branches[N];
	struct ptc_compare_entry entries[N];
	struct ptc_step steps[6];
	struct ptc_compare_own own;
	struct ptc_compare_sample one;
	struct ptc_compare_sum sum;
};

static void init(struct fixture *x)
{
	size_t i;

	*x = (struct fixture){ .one = { .n = N } };
	for (i = 0; i < 6; i++)
		x->steps[i] = (struct ptc_step){ .from = 0x100 + i,
						 .to = 0x200 + i,
						 .kind = PTC_KIND_RET,
						 .flags = PTC_STEP_WANTED };
	for (i = 0; i < N; i++) {
		x->entries[i].step = &x->steps[i ? N - i : N + 1];
		x->branches[i].from = x->entries[i].step->from;
		x->entries[i].branch = &x->branches[i];
	}
	x->one.sample = &x->sample;
	x->own = (struct ptc_compare_own){ .entries = x->entries, .steps = x->steps };
	x->one.own = &x->own;
	x->one.candidates = 1;
	x->one.fits = true;
}

static void add(struct fixture *x, int32_t cpu, size_t at, enum ptc_verdict v)
{
	x->one.where.cpu = cpu;
	x->entries[at].verdict = (uint8_t)v;
	cr_assert(ptc_compare_sum_add(&x->sum, &x->one));
	x->entries[at].verdict = PTC_VERDICT_EXACT;
}

static bool has(const struct fixture *x, enum ptc_sum_pattern p)
{
	return x->sum.patterns >> p & 1;
}

Test(compare_stats, exact_samples_are_nothing_to_talk_of)
{
	struct fixture x;

	init(&x);
	add(&x, 0, 0, PTC_VERDICT_EXACT);
	add(&x, 1, 0, PTC_VERDICT_EXACT);
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert_eq(x.sum.exact_samples, 2);
	cr_assert_eq(x.sum.all.judged, (size_t)2 * N);
	cr_assert_eq(x.sum.kinds[PTC_KIND_RET].judged, (size_t)2 * N);
	cr_assert_eq(x.sum.ncpus, 2);
	cr_assert_eq(x.sum.patterns, 0);
	cr_assert_eq(x.sum.nworst, 0);
	cr_assert_eq(x.sum.nplaces, 0);
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, what_is_missing_counts_for_its_own_source)
{
	struct fixture x;

	init(&x);
	x.entries[0].missing = 1;
	add(&x, 0, 0, PTC_VERDICT_EXACT);
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert_eq(x.sum.all.missing, 1);
	cr_assert_eq(x.sum.missing_at[0], 1);
	cr_assert_eq(x.sum.exact_samples, 0);
	cr_assert_eq(x.sum.nplaces, 1);
	cr_assert_eq(x.sum.places[0].from, 0x104);
	cr_assert_eq(x.sum.places[0].missing, 1);
	cr_assert_eq(x.sum.nworst, 1);
	cr_assert_eq(x.sum.worst[0].rows[0].trace[0].ip, 0x105);
	cr_assert_eq(x.sum.worst[0].n, N + 1);
	cr_assert(x.sum.worst[0].rows[1].missing);
	cr_assert_eq(x.sum.worst[0].rows[1].trace[0].ip, 0x104);
	cr_assert_eq(x.sum.worst[0].rows[1].trace[1].ip, 0x204);
	cr_assert_eq(x.sum.worst[0].rows[2].depth, 1);
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, what_is_not_judged_is_not_wrong)
{
	struct fixture x;

	init(&x);
	add(&x, 0, 1, PTC_VERDICT_AMBIGUOUS);
	x.one.skip = PTC_COMPARE_STACK;
	x.one.own = NULL;
	cr_assert(ptc_compare_sum_add(&x.sum, &x.one));
	cr_assert_eq(x.sum.all.judged, N - 1);
	cr_assert_eq(x.sum.all.wrong, 0);
	cr_assert_eq(x.sum.entries, (size_t)2 * N);
	cr_assert_eq(x.sum.skipped_entries[PTC_COMPARE_STACK], N);
	cr_assert_eq(x.sum.exact_samples, 0);
	ptc_compare_sum_release(&x.sum);
}

/* Sources 0x100 to 0x102 belong to one function, others to none. */
static bool find(void *ctx, const struct ptc_item *where, uint64_t ip, struct ptc_side_place *ret)
{
	(void)ctx;
	(void)where;
	if (ip > 0x102)
		return true;
	ret->off = ip - 0x100;
	ret->line = 7;
	ret->function = strdup("low");
	ret->file = strdup("low.c");
	return ret->function && ret->file;
}

Test(compare_stats, functions_have_what_their_branches_have)
{
	const struct ptc_side_names names = { find, NULL };
	struct fixture x;
	size_t i;

	init(&x);
	x.sum.names = &names;
	for (i = 0; i < N; i++)
		add(&x, 0, i, PTC_VERDICT_TARGET);
	x.entries[0].missing = 1;
	add(&x, 0, 3, PTC_VERDICT_TARGET);
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert_eq(x.sum.nfunctions, 2);
	cr_assert_str_eq(x.sum.functions[0].name, "low");
	cr_assert_eq(x.sum.functions[0].wrong, 3);
	cr_assert_eq(x.sum.functions[0].missing, 0);
	cr_assert_null(x.sum.functions[1].name);
	cr_assert_eq(x.sum.functions[1].wrong, 2);
	cr_assert_eq(x.sum.functions[1].missing, 1);
	cr_assert_eq(x.sum.places[0].from, 0x101);
	cr_assert_eq(x.sum.places[0].place.line, 7);
	cr_assert_str_eq(x.sum.worst[0].rows[N].lbr[0].place.file, "low.c");
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, a_gap_has_a_cause)
{
	struct fixture x;

	init(&x);
	x.entries[2].cause = PTC_GAP_OVERFLOW;
	add(&x, 0, 2, PTC_VERDICT_GAP);
	cr_assert_eq(x.sum.gaps[PTC_GAP_OVERFLOW], 1);
	cr_assert_eq(x.sum.all.judged, N - 1);
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, places_are_counted_by_their_number)
{
	static const size_t n[] = { 1, 1, 2, 9, 10, 99, 100, 5000 };
	struct fixture x;
	size_t i;

	init(&x);
	for (i = 0; i < sizeof(n) / sizeof(*n); i++) {
		x.one.candidates = n[i];
		add(&x, 0, 0, PTC_VERDICT_EXACT);
	}
	for (i = 0; i < PTC_SUM_CANDIDATES; i++)
		cr_assert_eq(x.sum.candidates[i], 2);
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, patterns_have_names)
{
	static const struct {
		size_t at;
		enum ptc_verdict v;
		enum ptc_sum_pattern want;
	} cases[] = {
		{ 0, PTC_VERDICT_DUPLICATED, PTC_PATTERN_DUPLICATED_TOP },
		{ N - 1, PTC_VERDICT_TARGET, PTC_PATTERN_OLDEST },
		{ N - 1, PTC_VERDICT_ABSENT, PTC_PATTERN_STALE },
		{ 1, PTC_VERDICT_CLASS, PTC_PATTERN_LEAK },
	};
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture x;

		init(&x);
		for (k = 0; k < 10; k++)
			add(&x, 0, cases[i].at, k % 5 ? PTC_VERDICT_EXACT : cases[i].v);
		cr_assert(ptc_compare_sum_finish(&x.sum));
		cr_assert(has(&x, cases[i].want), "%s", ptc_pattern_name(cases[i].want));
		cr_assert_not(has(&x, PTC_PATTERN_CPU));
		ptc_compare_sum_release(&x.sum);
	}
}

Test(compare_stats, a_bad_cpu_is_one_of_several)
{
	struct fixture x;
	int32_t k;

	init(&x);
	for (k = 0; k < 12; k++)
		add(&x, k % 3, 1, k % 3 == 2 ? PTC_VERDICT_SOURCE : PTC_VERDICT_EXACT);
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert(has(&x, PTC_PATTERN_CPU));
	cr_assert_eq(x.sum.cpu, 2);
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, a_shift_is_a_pattern_if_it_is_the_same)
{
	struct fixture x;
	uint32_t k;

	init(&x);
	for (k = 0; k < 10; k++) {
		x.one.shift = k < 4 ? 0 : 2;
		add(&x, 0, 0, PTC_VERDICT_EXACT);
	}
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert(has(&x, PTC_PATTERN_SHIFT));
	cr_assert_eq(x.sum.shift, 2);
	ptc_compare_sum_release(&x.sum);

	init(&x);
	for (k = 0; k < 10; k++) {
		x.one.shift = k;
		add(&x, 0, 0, PTC_VERDICT_EXACT);
	}
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert_not(has(&x, PTC_PATTERN_SHIFT));
	cr_assert_not(has(&x, PTC_PATTERN_SHIFTED));
	ptc_compare_sum_release(&x.sum);

	init(&x);
	for (k = 0; k < 100; k++) {
		x.one.shift = k == 50 ? 3 : 0;
		add(&x, 0, 0, PTC_VERDICT_EXACT);
	}
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert_not(has(&x, PTC_PATTERN_SHIFT));
	cr_assert(has(&x, PTC_PATTERN_SHIFTED));
	cr_assert_eq(x.sum.shift, 3);
	ptc_compare_sum_release(&x.sum);
}

/* In loops most shifted stacks also match without a shift. */
Test(compare_stats, a_shift_that_all_samples_may_have_is_constant)
{
	struct fixture x;
	uint32_t k;

	init(&x);
	for (k = 0; k < 100; k++) {
		x.one.shift = k % 20 ? 0 : 2; /* the first position of the ip is less exact */
		x.one.shifts = k % 20 ? 1 | 1 << 5 : 1 << 2 | 1 << 5;
		add(&x, 0, 0, PTC_VERDICT_EXACT);
	}
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert(has(&x, PTC_PATTERN_SHIFT));
	ptc_compare_sum_release(&x.sum);

	init(&x);
	for (k = 0; k < 100; k++) {
		x.one.shift = k % 20 ? 0 : 5;
		x.one.shifts = k % 20 ? 1 : 1 << 5;
		add(&x, 0, 0, PTC_VERDICT_EXACT);
	}
	cr_assert(ptc_compare_sum_finish(&x.sum));
	cr_assert_not(has(&x, PTC_PATTERN_SHIFT));
	cr_assert(has(&x, PTC_PATTERN_SHIFTED));
	cr_assert_eq(x.sum.shift, 5);
	ptc_compare_sum_release(&x.sum);
}

Test(compare_stats, the_worst_are_kept_the_worst_first)
{
	struct fixture x;
	size_t i, k;

	init(&x);
	for (i = 0; i < (size_t)3 * PTC_SUM_WORST; i++) {
		x.one.off = i;
		for (k = 0; k < N; k++)
			x.entries[k].verdict = k <= i % N ? PTC_VERDICT_TARGET : PTC_VERDICT_EXACT;
		cr_assert(ptc_compare_sum_add(&x.sum, &x.one));
	}
	cr_assert_eq(x.sum.nworst, PTC_SUM_WORST);
	cr_assert_eq(x.sum.worst[0].wrong, N);
	cr_assert_eq(x.sum.worst[0].off, N - 1);
	for (i = 1; i < PTC_SUM_WORST; i++)
		cr_assert_leq(x.sum.worst[i].wrong, x.sum.worst[i - 1].wrong);
	ptc_compare_sum_release(&x.sum);
}
