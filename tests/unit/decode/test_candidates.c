/* SPDX-License-Identifier: MIT */
/*
 * Description: the positions of a stack by its sample's time and ip: exact matches are found there,
 * and nowhere else; also with a filter.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/lbr/candidates.h"
#include "ptcap/kind.h"

enum { STEPS = 400, N = 8, LOOP = 4 };

struct fixture {
	struct ptc_thread_history_thread t;
	struct ptc_step steps[STEPS];
	uint8_t keys[STEPS];
	struct ptc_branch entries[N];
	struct ptc_align_entry out[N];
	struct ptc_align_result all;
	struct ptc_align_in in;
	struct ptc_place place;
};

/* Step i of a walk that repeats after @period, at time i; the stack ends at step @end. */
static void init(struct fixture *x, size_t period, size_t end)
{
	size_t i;

	memset(x, 0, sizeof(*x));
	for (i = 0; i < STEPS; i++)
		x->steps[i] = (struct ptc_step){ .from = 0x1000 * (i % period) + 0x1010,
						 .to = 0x1000 * ((i + 1) % period + 1),
						 .time = i,
						 .kind = PTC_KIND_JCC };
	for (i = 0; i < N; i++)
		x->entries[i] = (struct ptc_branch){ .from = x->steps[end - i].from,
						     .to = x->steps[end - i].to,
						     .type = PERF_BR_COND };
	x->t = (struct ptc_thread_history_thread){ .steps = x->steps, .keys = x->keys, .n = STEPS };
	x->in = (struct ptc_align_in){ .entries = x->entries, .n = N, .types = true };
	x->place =
		(struct ptc_place){ .wants = { .kinds = UINT64_C(1) << PTC_KIND_JCC, .user = true },
				    .ip = x->steps[end].to + 4,
				    .since = end };
}

static bool find(struct fixture *x)
{
	size_t i;

	for (i = 0; i < STEPS; i++)
		x->keys[i] = ptc_thread_history_key(x->steps[i].from, x->steps[i].to);
	return ptc_place_exact(&x->place, &x->t, &x->in, x->out, &x->all);
}

/* The result must equal that of the alignment. */
static void expect_as_aligned(struct fixture *x)
{
	struct ptc_align_entry out[N];
	struct ptc_align_result all;
	struct ptc_align a = { .cap = 0 };
	const size_t first = ptc_place_steps(&x->place, &x->t, N);
	size_t i;

	x->in.steps = x->steps + first;
	x->in.nsteps = STEPS - first;
	cr_assert_eq(ptc_align_run(&a, &x->in, out, &all), 0);
	ptc_align_release(&a);
	cr_assert_eq(all.candidates, x->all.candidates);
	cr_assert_eq(all.fits, x->all.fits);
	cr_assert_eq(all.shift, x->all.shift);
	cr_assert_eq(all.cost, x->all.cost);
	for (i = 0; i < N; i++) {
		cr_assert_eq(out[i].step + first, x->out[i].step);
		cr_assert_eq(out[i].verdict, x->out[i].verdict);
		cr_assert_eq(x->out[i].missing, 0);
	}
}

Test(candidates, a_stack_is_found_where_it_is)
{
	struct fixture x;

	init(&x, STEPS, 350);
	x.entries[3].type = PERF_BR_CALL;
	cr_assert(find(&x));
	cr_assert_eq(x.out[0].step, 350);
	cr_assert_eq(x.out[3].verdict, PTC_VERDICT_TYPE);
	cr_assert_eq(x.all.candidates, 1);
	expect_as_aligned(&x);
}

Test(candidates, in_a_loop_all_places_are_counted_and_the_newest_is_taken)
{
	struct fixture x;

	init(&x, LOOP, 350);
	cr_assert(find(&x));
	cr_assert_eq(x.out[0].step, 398);
	/* From 350 on, and 16 in front: 334, 338, ... 398. */
	cr_assert_eq(x.all.candidates, 17);
	expect_as_aligned(&x);
}

Test(candidates, where_the_time_does_not_allow_it_it_is_not)
{
	struct fixture x;

	init(&x, STEPS, 350);
	x.place.since = 350 + 17;
	cr_assert(find(&x));
	x.place.since = 350 + 18;
	cr_assert_not(find(&x));
}

Test(candidates, where_the_ip_is_not_it_is_not)
{
	struct fixture x;

	init(&x, STEPS, 350);
	x.place.ip = x.steps[340].to;
	cr_assert_not(find(&x));
}

Test(candidates, what_the_filter_excludes_is_passed_over)
{
	struct fixture x;
	size_t i;

	init(&x, STEPS, 350);
	for (i = 0; i < N; i++)
		x.entries[i] = (struct ptc_branch){ .from = x.steps[350 - 2 * i].from,
						    .to = x.steps[350 - 2 * i].to,
						    .type = PERF_BR_COND };
	for (i = 1; i < STEPS; i += 2)
		x.steps[i].kind = PTC_KIND_RET;
	/* Behind the excluded step, and in front of the next one that is not excluded. */
	x.place.ip = x.steps[351].to + 4;
	cr_assert(find(&x));
	cr_assert_eq(x.out[0].step, 350);
	cr_assert_eq(x.out[1].step, 348);
	expect_as_aligned(&x);
	x.steps[349].kind = PTC_KIND_JCC;
	cr_assert_not(find(&x));
}

Test(candidates, no_stack_is_across_a_gap)
{
	struct fixture x;

	init(&x, STEPS, 350);
	x.steps[347] = (struct ptc_step){ .time = 347, .flags = PTC_STEP_GAP };
	cr_assert_not(find(&x));
}

Test(candidates, all_shifts_that_are_possible_are_found)
{
	struct fixture x;

	init(&x, STEPS, 350);
	cr_assert_eq(ptc_place_shifts(&x.place, &x.t, &x.in), 1);
	x.place.ip = x.steps[355].to;
	cr_assert_eq(ptc_place_shifts(&x.place, &x.t, &x.in), 1 << 5);
	x.place.ip = x.steps[340].to;
	cr_assert_eq(ptc_place_shifts(&x.place, &x.t, &x.in), 0);
	init(&x, LOOP, 350); /* four branches: every fourth shift looks the same */
	cr_assert_eq(ptc_place_shifts(&x.place, &x.t, &x.in) & 0x1ff, 0x111);
}
