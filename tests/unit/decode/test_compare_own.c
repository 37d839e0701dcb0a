/* SPDX-License-Identifier: MIT */
/* Description: the functions of compared samples give out entries and missing branches. */
#include <criterion/criterion.h>

#include "decode/lbr/align.h"
#include "decode/lbr/compare_own.h"

enum { STEPS = 6 };

static struct ptc_step steps[STEPS];
static struct ptc_branch branch;
static struct ptc_compare_entry entries[] = {
	{ .branch = &branch, .step = &steps[5], .missing = 2 },
	{ .branch = &branch, .step = &steps[1], .missing = 3 },
	{ .branch = &branch },
};
static const struct ptc_compare_own own = { .entries = entries, .steps = steps };
static struct ptc_compare_sample sample = { .n = 3, .own = &own };

static void set_steps(void)
{
	size_t i;

	for (i = 0; i < STEPS; i++)
		steps[i] = (struct ptc_step){ .from = i, .flags = PTC_STEP_WANTED };
	steps[4].flags = 0; /* not wanted */
	steps[2].flags = PTC_STEP_GAP;
}

Test(compare_own, only_judged_samples_have_entries, .init = set_steps)
{
	cr_assert_eq(ptc_compare_entry(&sample, 1), &entries[1]);
	cr_assert_null(ptc_compare_entry(&sample, 3));
	sample.skip = PTC_COMPARE_NO_TIME;
	cr_assert_null(ptc_compare_entry(&sample, 0));
	cr_assert_null(ptc_compare_missing(&sample, 0, NULL));
}

Test(compare_own, missing_branches_pass_the_filter, .init = set_steps)
{
	const struct ptc_step *step = ptc_compare_missing(&sample, 0, NULL);

	cr_assert_eq(step, &steps[3]);
	cr_assert_eq(ptc_compare_missing(&sample, 0, step), &steps[1]);
}

Test(compare_own, missing_branches_end_with_the_steps, .init = set_steps)
{
	const struct ptc_step *step = ptc_compare_missing(&sample, 1, NULL);

	cr_assert_eq(step, &steps[0]);
	cr_assert_null(ptc_compare_missing(&sample, 1, step));
	cr_assert_null(ptc_compare_missing(&sample, 2, NULL), "the entry has no step");
}

Test(compare_own, skipped_stacks_of_another_run_have_no_entries)
{
	static const struct ptc_runs_entry of_run[] = { { .verdict = PTC_RUNS_LINK } };
	const struct ptc_runs_own run = { .entries = of_run };
	struct ptc_runs_sample s = { .n = 1, .own = &run };

	cr_assert_eq(ptc_runs_entry(&s, 0), &of_run[0]);
	cr_assert_null(ptc_runs_entry(&s, 1));
	s.stack = PTC_RUNS_STACK_SKIPPED;
	cr_assert_null(ptc_runs_entry(&s, 0));
}
