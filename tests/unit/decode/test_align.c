/* SPDX-License-Identifier: MIT */
/*
 * Description: a branch stack is compared with the trace: each kind of injected error gets its own
 * verdict.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/lbr/align.h"
#include "fewer.h"
#include "ptcap/branchsel.h"
#include "ptcap/decode.h"
#include "ptcap/kind.h"

enum { STEPS = 100, N = 16 };

/* A walk that never repeats a branch; step i is from 0x1000 * i + 0x1010 to 0x1000 * (i + 1). */
struct walk {
	struct ptc_step steps[STEPS];
	struct ptc_branch entries[N + 4];
	struct ptc_align_entry out[N + 4];
	struct ptc_align_result all;
	struct ptc_align_in in;
};

static void set_step(struct ptc_step *s, size_t i, uint64_t from, uint64_t to)
{
	*s = (struct ptc_step){ .from = from,
				.to = to,
				.time = i,
				.kind = PTC_KIND_JCC,
				.flags = PTC_STEP_WANTED | PTC_STEP_END };
}

/* @period 0: nothing repeats. Otherwise the walk is a loop of @period branches. */
static void set_walk(struct walk *w, size_t period, size_t end)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < STEPS; i++) {
		const size_t at = period ? i % period : i;
		const size_t to = period ? (i + 1) % period : i + 1;

		set_step(&w->steps[i], i, 0x1000 * at + 0x1010, 0x1000 * to);
	}
	for (i = 0; i < N; i++)
		w->entries[i] = (struct ptc_branch){ .from = w->steps[end - i].from,
						     .to = w->steps[end - i].to,
						     .type = PERF_BR_COND };
	w->steps[end].flags |= PTC_STEP_FITS;
	w->in = (struct ptc_align_in){
		.entries = w->entries, .n = N, .steps = w->steps, .nsteps = STEPS, .types = true
	};
}

static void run(struct walk *w)
{
	struct ptc_align a = { .cap = 0 };

	cr_assert_eq(ptc_align_run(&a, &w->in, w->out, &w->all), 0);
	ptc_align_release(&a);
}

static uint32_t missing(const struct walk *w)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < w->in.n; i++)
		n += w->out[i].missing;
	return n;
}

/* Entries [first, last] have @v, all others are exact. */
static void expect(const struct walk *w, size_t first, size_t last, enum ptc_verdict v)
{
	size_t i;

	for (i = 0; i < w->in.n; i++) {
		const enum ptc_verdict want = i >= first && i <= last ? v : PTC_VERDICT_EXACT;

		cr_assert_eq(w->out[i].verdict, want, "entry %zu: '%s', not '%s'", i,
			     ptc_verdict_name((enum ptc_verdict)w->out[i].verdict),
			     ptc_verdict_name(want));
	}
}

static void expect_exact(const struct walk *w)
{
	expect(w, 1, 0, PTC_VERDICT_EXACT);
	cr_assert_eq(w->all.cost, 0);
	cr_assert_eq(missing(w), 0);
}

/* Inserts @e at @i: older entries move on by one. */
static void insert(struct walk *w, size_t i, struct ptc_branch e)
{
	memmove(w->entries + i + 1, w->entries + i, (w->in.n - i) * sizeof(e));
	w->entries[i] = e;
	w->in.n++;
}

static void drop(struct walk *w, size_t i)
{
	w->in.n--;
	memmove(w->entries + i, w->entries + i + 1, (w->in.n - i) * sizeof(*w->entries));
}

Test(align, what_ran_is_exact)
{
	struct walk w;
	size_t end;

	for (end = N - 1; end < STEPS; end++) {
		set_walk(&w, 0, end);
		run(&w);
		expect_exact(&w);
		cr_assert_eq(w.out[0].step, end);
		cr_assert_eq(w.out[N - 1].step, end - N + 1);
	}
}

Test(align, a_tight_loop_is_exact_wherever_it_is_read)
{
	struct walk w;
	size_t period;

	for (period = 1; period <= 3; period++) {
		set_walk(&w, period, 60);
		run(&w);
		expect_exact(&w);
	}
}

Test(align, one_end_is_wrong)
{
	struct walk w;
	size_t i;

	for (i = 0; i < N; i++) {
		set_walk(&w, 0, 60);
		w.entries[i].to ^= 0x7;
		run(&w);
		expect(&w, i, i, PTC_VERDICT_TARGET);
		cr_assert_eq(w.out[i].step, 60 - i);

		set_walk(&w, 0, 60);
		w.entries[i].from ^= 0x7;
		run(&w);
		expect(&w, i, i, PTC_VERDICT_SOURCE);
		cr_assert_eq(missing(&w), 0);
	}
}

Test(align, every_target_is_wrong)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, 60);
	for (i = 0; i < N; i++)
		w.entries[i].to ^= 0x7;
	run(&w);
	expect(&w, 0, N - 1, PTC_VERDICT_TARGET);
}

Test(align, what_was_dropped_is_missing)
{
	struct walk w;
	size_t i, k;

	for (k = 1; k <= 3; k++)
		for (i = 1; i + k < N; i++) {
			size_t n;

			set_walk(&w, 0, 60);
			for (n = 0; n < k; n++)
				drop(&w, i);
			run(&w);
			expect(&w, 1, 0, PTC_VERDICT_EXACT);
			cr_assert_eq(missing(&w), k);
			cr_assert_eq(w.out[i - 1].missing, k, "dropped %zu at %zu", k, i);
		}
}

Test(align, of_two_copies_the_newer_one_is_duplicated)
{
	struct walk w;
	size_t i;

	for (i = 0; i < N; i++) {
		set_walk(&w, 0, 60);
		insert(&w, i, w.entries[i]);
		run(&w);
		expect(&w, i, i, PTC_VERDICT_DUPLICATED);
	}
}

Test(align, neighbours_the_wrong_way_round)
{
	struct walk w;
	size_t i;

	for (i = 0; i + 1 < N; i++) {
		struct ptc_branch e;

		set_walk(&w, 0, 60);
		e = w.entries[i];
		w.entries[i] = w.entries[i + 1];
		w.entries[i + 1] = e;
		run(&w);
		expect(&w, i, i + 1, PTC_VERDICT_ORDER);
		cr_assert_eq(w.out[i].step, 60 - i - 1);
		cr_assert_eq(w.out[i + 1].step, 60 - i);
	}
}

Test(align, a_shift_is_measured_by_the_ip)
{
	struct walk w;
	size_t k;

	for (k = 0; k < 5; k++) {
		set_walk(&w, 0, 60);
		w.steps[60].flags &= (uint8_t)~PTC_STEP_FITS;
		w.steps[60 + k].flags |= PTC_STEP_FITS;
		run(&w);
		expect(&w, 1, 0, PTC_VERDICT_EXACT);
		cr_assert(w.all.fits);
		cr_assert_eq(w.all.shift, k);
	}
}

Test(align, stale_entries_are_not_in_the_trace)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, 60);
	for (i = N - 4; i < N; i++)
		w.entries[i] = (struct ptc_branch){ .from = 0x900000 + i, .to = 0x800000 + i };
	run(&w);
	expect(&w, N - 4, N - 1, PTC_VERDICT_ABSENT);
	cr_assert_eq(missing(&w), 0);
}

Test(align, a_stack_of_somebody_else_has_no_place)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, 60);
	for (i = 0; i < N; i++)
		w.entries[i] = (struct ptc_branch){ .from = 0x900000 + i, .to = 0x800000 + i };
	run(&w);
	expect(&w, 0, N - 1, PTC_VERDICT_UNPLACED);
	cr_assert_eq(w.out[0].step, PTC_ALIGN_NONE);
	/* Nor is a single one. */
	w.in.n = 1;
	run(&w);
	cr_assert_eq(w.out[0].verdict, PTC_VERDICT_UNPLACED);
}

Test(align, what_the_filter_excludes_is_no_gap_and_must_not_be_there)
{
	struct walk w;
	size_t i, n = 0;

	set_walk(&w, 0, 60);
	for (i = 0; i < STEPS; i += 2)
		w.steps[i].flags &= (uint8_t)~PTC_STEP_WANTED;
	for (i = 59; n < N; i -= 2) {
		w.entries[n].from = w.steps[i].from;
		w.entries[n++].to = w.steps[i].to;
	}
	w.steps[59].flags |= PTC_STEP_FITS;
	run(&w);
	expect_exact(&w);
	insert(&w, 3, (struct ptc_branch){ .from = w.steps[54].from, .to = w.steps[54].to });
	run(&w);
	expect(&w, 3, 3, PTC_VERDICT_CLASS);
}

Test(align, types_count_only_where_they_are_claims)
{
	struct walk w;

	set_walk(&w, 0, 60);
	w.entries[4].type = PERF_BR_RET;
	run(&w);
	expect(&w, 4, 4, PTC_VERDICT_TYPE);
	w.entries[4].type = PERF_BR_UNKNOWN;
	run(&w);
	expect(&w, 4, 4, PTC_VERDICT_FLAG);
	w.entries[4].type = PERF_BR_RET;
	w.in.types = false;
	run(&w);
	expect_exact(&w);
}

Test(align, a_prediction_that_only_one_entry_lacks_was_lost)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, 60);
	w.in.flags = true;
	run(&w); /* the CPU does not record predictions */
	expect_exact(&w);
	for (i = 0; i < N; i++)
		w.entries[i].predicted = i != 4;
	w.entries[7].predicted = false;
	w.entries[7].mispred = true;
	run(&w);
	expect(&w, 4, 4, PTC_VERDICT_FLAG);
	w.in.flags = false;
	run(&w);
	expect_exact(&w);
}

Test(align, every_place_is_counted)
{
	struct walk w;
	size_t i;

	set_walk(&w, 2, 60);
	for (i = 0; i < STEPS; i++)
		w.steps[i].flags |= PTC_STEP_FITS;
	run(&w);
	expect_exact(&w);
	cr_assert_eq(w.all.candidates, (STEPS - N) / 2);
	cr_assert_eq(w.out[0].step, 98);
	cr_assert_eq(w.out[N - 1].step, 98 - N + 1);
	set_walk(&w, 0, 60);
	run(&w);
	cr_assert_eq(w.all.candidates, 1);
}

Test(align, in_front_of_the_trace_nothing_is_judged)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, N + 3);
	for (i = 4; i < N; i++)
		w.entries[i] = (struct ptc_branch){ .from = 0x900000 + i, .to = 0x800000 + i };
	w.in.steps += N;
	w.in.nsteps -= N;
	w.in.begins = true;
	run(&w);
	expect(&w, 4, N - 1, PTC_VERDICT_BEFORE);
	w.in.begins = false;
	run(&w);
	expect(&w, 0, N - 1, PTC_VERDICT_UNPLACED);
}

Test(align, in_a_gap_nothing_is_judged)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, 60);
	w.steps[55].flags = PTC_STEP_GAP;
	w.steps[55].kind = PTC_GAP_OVERFLOW;
	w.steps[55].from = w.steps[55].to = 0;
	run(&w); /* entry 5 was there */
	expect(&w, 5, 5, PTC_VERDICT_GAP);
	cr_assert_eq(w.out[5].cause, PTC_GAP_OVERFLOW);
	for (i = 5; i < N; i++)
		w.entries[i].from ^= 0x900000;
	for (i = 0; i < 55; i++)
		w.steps[i].to ^= 0x1;
	run(&w);
	expect(&w, 5, N - 1, PTC_VERDICT_GAP);
}

Test(align, the_kernel_is_judged_only_if_it_was_traced)
{
	const uint64_t kernel = 0xffffffff81000000;
	struct walk w;

	set_walk(&w, 0, 60);
	insert(&w, 3, (struct ptc_branch){ .from = kernel, .to = 0x1234 });
	run(&w);
	expect(&w, 3, 3, PTC_VERDICT_UNTRACED);
	w.steps[0].from = kernel + 0x100;
	run(&w);
	expect(&w, 3, 3, PTC_VERDICT_ABSENT);
}

Test(align, ways_that_differ_about_an_entry_leave_it_open)
{
	struct walk w;

	/* Its source belongs to one branch, its target to the next. */
	set_walk(&w, 0, 60);
	w.entries[5].to = w.entries[4].to;
	drop(&w, 4);
	run(&w);
	cr_assert_eq(missing(&w), 0);
	expect(&w, 4, 4, PTC_VERDICT_AMBIGUOUS);
}

Test(align, time_bounds_where_it_may_end)
{
	struct walk w;
	size_t i;

	set_walk(&w, 0, 60);
	for (i = 58; i < STEPS; i++)
		w.steps[i].flags &= (uint8_t)~PTC_STEP_END;
	run(&w); /* three entries are too new, and not in the trace */
	expect(&w, 0, 2, PTC_VERDICT_ABSENT);
}

Test(align, nothing_against_nothing)
{
	struct walk w;

	set_walk(&w, 0, 60);
	w.in.n = 0;
	run(&w);
	w.in.n = N;
	w.in.nsteps = 0;
	run(&w);
	expect(&w, 0, N - 1, PTC_VERDICT_UNPLACED);
}

/* For any input: every entry gets a verdict, and no step is used twice. */
Test(align, anything_can_be_aligned)
{
	struct walk w;
	unsigned int seed = 1;
	size_t round, i;

	for (round = 0; round < FEWER(2000, 700); round++) {
		size_t last = STEPS;

		set_walk(&w, 0, 60);
		for (i = 0; i < STEPS; i++) {
			set_step(&w.steps[i], i, 1 + (unsigned int)rand_r(&seed) % 4,
				 1 + (unsigned int)rand_r(&seed) % 4);
			w.steps[i].flags = (uint8_t)rand_r(&seed) & 15;
		}
		for (i = 0; i < N; i++)
			w.entries[i] = (struct ptc_branch){
				.from = 1 + (unsigned int)rand_r(&seed) % 5,
				.to = 1 + (unsigned int)rand_r(&seed) % 5,
			};
		w.in.begins = rand_r(&seed) & 1;
		run(&w);
		for (i = 0; i < N; i++) {
			const size_t s = w.out[i].step;

			cr_assert_lt(w.out[i].verdict, PTC_VERDICT_COUNT);
			if (s == PTC_ALIGN_NONE)
				continue;
			cr_assert(s < last || (i && w.out[i - 1].step < s && s < last + STEPS));
			last = s;
		}
	}
}

Test(align, a_few_old_entries_behind_many_that_lack_may_be_left_over)
{
	struct walk w;
	size_t k;

	set_walk(&w, 0, 60);
	for (k = N - 3; k < N; k++) /* 4 are skipped */
		w.entries[k] = (struct ptc_branch){ .from = w.steps[60 - k - 4].from,
						    .to = w.steps[60 - k - 4].to,
						    .type = PERF_BR_COND };
	run(&w);
	expect(&w, N - 3, N, PTC_VERDICT_AMBIGUOUS);
	cr_assert_eq(missing(&w), 0);
}

Test(align, beside_what_is_not_in_the_trace_one_end_says_nothing)
{
	struct walk w;

	set_walk(&w, 0, 60);
	w.entries[N - 1] =
		(struct ptc_branch){ .from = 0x900000, .to = 0x800000, .type = PERF_BR_COND };
	w.entries[N - 2].to ^= 0x7;
	run(&w);
	cr_assert_eq(w.out[N - 1].verdict, PTC_VERDICT_ABSENT);
	cr_assert_eq(w.out[N - 2].verdict, PTC_VERDICT_AMBIGUOUS);
	cr_assert_eq(w.out[N - 3].verdict, PTC_VERDICT_EXACT);
}
