/* SPDX-License-Identifier: MIT */
/*
 * Description: stacks of the call-stack mode have the live calls, however old; each kind of
 * injected error is found.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/lbr/compare_calls.h"
#include "ptcap/kind.h"

enum { DEPTH = 8, DOWN = 12 };

/* Calls down to DOWN, a loop there, returns up to 4; after each step the ip is at its target. */
struct fixture {
	struct ptc_thread_history r;
	struct ptc_thread_history_thread *t;
	struct ptc_branch entries[DEPTH + 2];
	struct ptc_align_in in;
	struct ptc_align_entry out[DEPTH + 2];
	struct ptc_align_result all;
	struct ptc_align a;
	struct ptc_compare_calls c;
};

static void add(struct fixture *x, enum ptc_kind kind, uint64_t from, uint64_t to)
{
	const struct ptc_item it = {
		.type = PTC_ITEM_BRANCH, .kind = (uint8_t)kind, .from = from, .to = to, .tid = 1
	};

	cr_assert_eq(ptc_thread_history_items(&x->r, PTC_NO_TIME, &it, 1), 1);
}

static uint64_t function(uint64_t depth)
{
	return 0x1000 * (depth + 1);
}

/* Sets the stack for @depth live calls. */
static void set_entries(struct fixture *x, uint64_t depth)
{
	uint64_t i;

	x->in.n = depth < DEPTH ? depth : DEPTH;
	for (i = 0; i < x->in.n; i++)
		x->entries[i] = (struct ptc_branch){ .from = function(depth - 1 - i) + 0x10,
						     .to = function(depth - i) };
}

static void init(struct fixture *x)
{
	uint64_t i;

	*x = (struct fixture){ .r = { .calls = true } };
	for (i = 0; i < DOWN; i++)
		add(x, PTC_KIND_CALL, function(i) + 0x10, function(i + 1));
	for (i = 0; i < 5; i++)
		add(x, PTC_KIND_JCC, function(DOWN) + 8, function(DOWN));
	for (i = DOWN; i > 4; i--)
		add(x, PTC_KIND_RET, function(i) + 0x20, function(i - 1) + 0x15);
	x->t = ptc_thread_history_find(&x->r, 1);
	x->in.entries = x->entries;
}

/* Positions are the steps from @first to @last. The ip fits step @fits (SIZE_MAX: not known). */
static void run(struct fixture *x, size_t first, size_t last, size_t fits)
{
	size_t i;

	for (i = first; i < x->t->n; i++) {
		x->t->steps[i].flags = PTC_STEP_WANTED;
		if (i <= last)
			x->t->steps[i].flags |= PTC_STEP_END;
		if (i == fits)
			x->t->steps[i].flags |= PTC_STEP_FITS;
	}
	cr_assert_eq(ptc_compare_calls_run(&x->c, &x->a, x->t, first, &x->in, x->out, &x->all), 0);
}

static void release(struct fixture *x)
{
	ptc_align_release(&x->a);
	ptc_compare_calls_release(&x->c);
	ptc_thread_history_release(&x->r);
}

static void expect(const struct fixture *x, size_t at, enum ptc_verdict v)
{
	size_t i;

	for (i = 0; i < x->in.n; i++)
		cr_assert_eq(x->out[i].verdict, i == at ? v : PTC_VERDICT_EXACT, "entry %zu: %s", i,
			     ptc_verdict_name((enum ptc_verdict)x->out[i].verdict));
}

Test(compare_calls, what_was_live_is_exact)
{
	struct fixture x;
	size_t i;

	init(&x);
	for (i = 0; i < DOWN; i++) {
		set_entries(&x, i + 1);
		run(&x, i, i, i);
		expect(&x, SIZE_MAX, PTC_VERDICT_EXACT);
		cr_assert_eq(x.all.candidates, 1);
		cr_assert_eq(x.in.steps[x.out[0].step].to, function(i + 1));
	}
	set_entries(&x, 6);
	run(&x, DOWN, x.t->n - 1, SIZE_MAX); /* this is so only once, on the way back */
	expect(&x, SIZE_MAX, PTC_VERDICT_EXACT);
	cr_assert_eq(x.all.candidates, 1);
	release(&x);
}

Test(compare_calls, each_way_to_spoil_it_is_seen)
{
	struct fixture x;
	size_t i;

	for (i = 1; i + 1 < DEPTH; i++) {
		init(&x);
		set_entries(&x, DOWN);
		x.entries[i].to ^= 0x700000;
		run(&x, DOWN, DOWN + 2, DOWN + 1);
		expect(&x, i, PTC_VERDICT_TARGET);
		set_entries(&x, DOWN);
		x.entries[i].from ^= 0x700000;
		run(&x, DOWN, DOWN + 2, DOWN + 1);
		expect(&x, i, PTC_VERDICT_SOURCE);
		set_entries(&x, DOWN);
		memmove(x.entries + i, x.entries + i + 1, (DEPTH - i - 1) * sizeof(*x.entries));
		x.in.n--;
		run(&x, DOWN, DOWN + 2, DOWN + 1);
		expect(&x, SIZE_MAX, PTC_VERDICT_EXACT);
		cr_assert_eq(x.out[i - 1].missing, 1);
		release(&x);
	}
}

Test(compare_calls, what_did_return_must_not_be_there)
{
	struct fixture x;

	init(&x);
	set_entries(&x, 7);
	x.in.n = DEPTH;
	memmove(x.entries + 1, x.entries, 7 * sizeof(*x.entries));
	x.entries[0] = (struct ptc_branch){ .from = function(7) + 0x10, .to = function(8) };
	run(&x, x.t->n - 3, x.t->n - 3, x.t->n - 3); /* 6 are live */
	cr_assert_eq(x.out[0].verdict, PTC_VERDICT_ABSENT);
	cr_assert_eq(x.out[1].verdict, PTC_VERDICT_ABSENT);
	cr_assert_eq(x.out[2].verdict, PTC_VERDICT_EXACT);
	release(&x);
}

Test(compare_calls, what_was_called_before_the_trace_is_not_judged)
{
	struct fixture x;
	size_t i;

	init(&x);
	set_entries(&x, 6);
	for (i = 3; i < 6; i++) /* older than the trace; the walk has none of them */
		x.entries[i] = (struct ptc_branch){ .from = 0x900000 + i, .to = 0x910000 + i };
	for (i = 0; i < 3; i++)
		x.entries[i] = (struct ptc_branch){ .from = function(2 - i) + 0x10,
						    .to = function(3 - i) };
	run(&x, 2, 2, 2);
	for (i = 0; i < 6; i++)
		cr_assert_eq(x.out[i].verdict, i < 3 ? PTC_VERDICT_EXACT : PTC_VERDICT_BEFORE);
	release(&x);
}

Test(compare_calls, places_that_differ_make_it_ambiguous)
{
	struct fixture x;
	size_t first;

	init(&x); /* 4 are live */
	first = x.t->n;
	add(&x, PTC_KIND_CALL, 0x500000, 0x510000);
	add(&x, PTC_KIND_RET, 0x510010, 0x500005);
	add(&x, PTC_KIND_CALL, 0x520000, 0x530000);
	set_entries(&x, 4);
	memmove(x.entries + 1, x.entries, 4 * sizeof(*x.entries));
	x.entries[0] = (struct ptc_branch){ .from = 0x500000, .to = 0x530000 };
	x.in.n = 5;
	run(&x, first, first + 2, SIZE_MAX);
	expect(&x, 0, PTC_VERDICT_AMBIGUOUS);
	cr_assert_eq(x.all.candidates, 2);
	run(&x, first, first + 2, first + 2); /* the ip decides */
	expect(&x, 0, PTC_VERDICT_SOURCE);
	cr_assert_eq(x.all.candidates, 1);
	release(&x);
}
