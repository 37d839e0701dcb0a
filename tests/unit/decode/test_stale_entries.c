/* SPDX-License-Identifier: MIT */
/*
 * Description: the oldest entries of a stack come from another thread that runs the same code. This
 * is reported if it can be decided.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/lbr/stale_entries.h"
#include "ptcap/decode.h"
#include "ptcap/kind.h"

enum { OWN = 1, OTHER = 2, N = 16, LEFT = 3, STEPS = 60 };

struct fixture {
	struct ptc_thread_history r;
	struct ptc_branch entries[N];
	struct ptc_align_in in;
	struct ptc_align_entry out[N];
	struct ptc_align_result all;
	struct ptc_align a;
	struct ptc_stale f;
};

static void add(struct fixture *x, int32_t tid, uint64_t from, uint64_t to)
{
	const struct ptc_item it = {
		.type = PTC_ITEM_BRANCH, .kind = PTC_KIND_JCC, .from = from, .to = to, .tid = tid
	};

	cr_assert_eq(ptc_thread_history_items(&x->r, PTC_NO_TIME, &it, 1), 1);
}

/* Branch number @i of the code, which all threads run. */
static uint64_t from_of(size_t i)
{
	return 0x1000 * i + 0x1010;
}

static uint64_t to_of(size_t i)
{
	return 0x1000 * (i + 1);
}

static void walk(struct fixture *x, int32_t tid, size_t first, size_t n)
{
	size_t i;

	for (i = first; i < first + n; i++)
		add(x, tid, from_of(i), to_of(i));
}

static void set_entry(struct fixture *x, size_t at, size_t i)
{
	x->entries[at] = (struct ptc_branch){ .from = from_of(i), .to = to_of(i) };
}

/*
 * Thread OWN walks from 0 on, and its stack has the last branches. Thread OTHER takes [@first,
 * @first + @n) and enters the kernel; its last branches are the oldest entries of OWN's stack.
 */
static void init(struct fixture *x, size_t first, size_t n)
{
	size_t i;

	memset(x, 0, sizeof(*x));
	walk(x, OTHER, first, n);
	add(x, OTHER, from_of(first + n), 0);
	walk(x, OTHER, 300, N);
	walk(x, OWN, 0, STEPS);
	for (i = 0; i < N; i++)
		set_entry(x, i, i < N - LEFT ? STEPS - 1 - i : first + n - 1 - (i - (N - LEFT)));
}

static void run(struct fixture *x)
{
	const struct perf_event_attr attr = { .branch_sample_type = PERF_SAMPLE_BRANCH_USER |
								    PERF_SAMPLE_BRANCH_ANY };
	struct ptc_thread_history_thread *own = ptc_thread_history_find(&x->r, OWN);
	size_t i;

	for (i = 0; i < own->n; i++)
		if (!(own->steps[i].flags & PTC_STEP_GAP))
			own->steps[i].flags = PTC_STEP_WANTED | (i + 4 > own->n ? PTC_STEP_END : 0);
	x->in.entries = x->entries;
	x->in.n = N;
	x->in.steps = own->steps;
	x->in.nsteps = own->n;
	cr_assert_eq(ptc_stale_run(&x->f, &x->a, &x->r, own, &x->in, &attr, x->out, &x->all), 0);
}

/* @v: verdict of the LEFT oldest entries. All others are exact, and none is missing. */
static void expect(struct fixture *x, enum ptc_verdict v)
{
	size_t i;

	run(x);
	for (i = 0; i < N; i++) {
		const enum ptc_verdict want = i < N - LEFT ? PTC_VERDICT_EXACT : v;

		cr_assert_eq(x->out[i].verdict, want, "entry %zu: '%s', not '%s'", i,
			     ptc_verdict_name((enum ptc_verdict)x->out[i].verdict),
			     ptc_verdict_name(want));
		cr_assert_eq(x->out[i].missing, 0);
	}
	ptc_align_release(&x->a);
	ptc_stale_release(&x->f);
	ptc_thread_history_release(&x->r);
}

Test(stale_entries, what_only_the_other_thread_took_is_not_in_the_trace)
{
	struct fixture x;

	init(&x, 100, 20);
	expect(&x, PTC_VERDICT_ABSENT);
}

Test(stale_entries, nearly_half_of_a_stack_may_be_left_over)
{
	const size_t own = N / 2 + 1;
	struct fixture x;
	size_t i;

	init(&x, 100, 20);
	for (i = own; i < N; i++)
		set_entry(&x, i, 119 - (i - own));
	run(&x);
	for (i = 0; i < N; i++)
		cr_assert_eq(x.out[i].verdict, i < own ? PTC_VERDICT_EXACT : PTC_VERDICT_ABSENT);
	cr_assert_eq(x.all.cost, 3); /* one run of entries */
	ptc_align_release(&x.a);
	ptc_stale_release(&x.f);
	ptc_thread_history_release(&x.r);
}

Test(stale_entries, what_both_took_lately_is_ambiguous)
{
	struct fixture x;
	size_t lack;

	/* On their own: a separate run, with one to three missing in between. */
	for (lack = 1; lack <= 3; lack++) {
		init(&x, 10, STEPS - 1 - (N - LEFT) - lack - 10 + 1);
		expect(&x, PTC_VERDICT_AMBIGUOUS);
	}
}

Test(stale_entries, what_would_lack_many_of_its_own_is_the_other_threads)
{
	struct fixture x;

	init(&x, 10, STEPS - 1 - (N - LEFT) - 6 - 10 + 1);
	expect(&x, PTC_VERDICT_ABSENT);
}

Test(stale_entries, what_is_the_same_as_it_should_be_is_exact)
{
	struct fixture x;

	init(&x, 100, 20);
	set_entry(&x, N - 2, STEPS - 1 - (N - 2));
	ptc_thread_history_release(&x.r);
	/* The second of OTHER's last branches is also the branch that OWN took there. */
	walk(&x, OTHER, 100, 18);
	walk(&x, OTHER, STEPS - 1 - (N - 2), 1);
	walk(&x, OTHER, 119, 1);
	add(&x, OTHER, from_of(120), 0);
	walk(&x, OWN, 0, STEPS);
	set_entry(&x, N - 1, 117);
	run(&x);
	cr_assert_eq(x.out[N - 3].verdict, PTC_VERDICT_ABSENT);
	cr_assert_eq(x.out[N - 2].verdict, PTC_VERDICT_EXACT);
	cr_assert_eq(x.out[N - 2].step, STEPS - 1 - (N - 2));
	cr_assert_eq(x.out[N - 1].verdict, PTC_VERDICT_ABSENT);
	ptc_align_release(&x.a);
	ptc_stale_release(&x.f);
	ptc_thread_history_release(&x.r);
}

Test(stale_entries, what_is_not_the_last_before_a_switch_is_not_left_over)
{
	struct fixture x;
	size_t i, missing = 0;

	init(&x, 10, STEPS - 1 - (N - LEFT) - 2 - 10 + 1);
	ptc_thread_history_release(&x.r);
	walk(&x, OTHER, 10, STEPS); /* OTHER went on */
	walk(&x, OWN, 0, STEPS);
	run(&x);
	for (i = 0; i < N; i++) {
		cr_assert_eq(x.out[i].verdict, PTC_VERDICT_EXACT);
		missing += x.out[i].missing;
	}
	cr_assert_eq(missing, 2);
	ptc_align_release(&x.a);
	ptc_stale_release(&x.f);
	ptc_thread_history_release(&x.r);
}

Test(stale_entries, in_front_of_the_trace_it_is_not_judged)
{
	struct fixture x;
	struct ptc_thread_history_thread *own;

	init(&x, 100, 20);
	own = ptc_thread_history_find(&x.r, OWN);
	memmove(own->steps, own->steps + STEPS - (N - LEFT), (N - LEFT) * sizeof(*own->steps));
	own->n = N - LEFT;
	x.in.begins = true;
	expect(&x, PTC_VERDICT_BEFORE);
}

/* Adds @n threads that ran before, @steps each, with a kernel entry behind each branch. */
static void add_crowd(struct fixture *x, int32_t n, size_t steps)
{
	int32_t tid;
	size_t i;

	for (tid = OTHER + 1; tid <= OTHER + n; tid++)
		for (i = 0; i < steps; i++) {
			add(x, tid, from_of(200 + i), to_of(200 + i));
			add(x, tid, from_of(200 + i + 1), 0);
		}
}

Test(stale_entries, of_too_many_threads_those_that_ran_last_are_looked_at_and_it_is_said)
{
	struct fixture x;
	struct ptc_thread_history_thread *t;
	size_t i;

	init(&x, 100, 20);
	add_crowd(&x, 20, 100);
	for (i = 0; i < x.r.n; i++) {
		t = &x.r.threads[i];
		t->steps[t->n - 1].time = t->tid == OTHER ? 5 : 4;
	}
	x.f.work = 1000;
	run(&x);
	cr_assert(x.all.limited);
	cr_assert_eq(x.out[N - 1].verdict, PTC_VERDICT_ABSENT);
	cr_assert_eq(x.all.cost, 3); /* one run of OTHER's, not three unknown entries */

	t = ptc_thread_history_find(&x.r, OTHER);
	t->steps[t->n - 1].time = 3;
	run(&x);
	cr_assert(x.all.limited);
	cr_assert_neq(x.all.cost, 3);

	x.f.work = 0;
	run(&x);
	cr_assert_not(x.all.limited);
	cr_assert_eq(x.all.cost, 3);
	ptc_align_release(&x.a);
	ptc_stale_release(&x.f);
	ptc_thread_history_release(&x.r);
}
