/* SPDX-License-Identifier: MIT */
/* Description: the verdict of compare A B claims no more than control flow can prove. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/compare/other_report.h"
#include "decode/lbr/compare_own.h"

static const struct ptc_compare_limits usual = { .min_judged_ppm = 500000 };

static void expect(const struct ptc_other_sum *s, const struct ptc_compare_limits *limits,
		   const char *want)
{
	char text[512];

	ptc_other_judge_text(text, sizeof(text), s, ptc_other_judge(s, limits));
	cr_assert_str_eq(text, want, "%s", text);
}

static struct ptc_other_sum sum_of(const uint8_t *verdicts, size_t n, enum ptc_runs_stack stack)
{
	struct ptc_runs_entry entries[8] = { 0 };
	const struct ptc_runs_own own = { .entries = entries };
	const struct ptc_runs_sample sample = {
		.n = n, .stack = stack, .has_ip = true, .own = &own
	};
	struct ptc_other_sum s = { .samples = 0 };
	size_t i;

	for (i = 0; verdicts && i < n; i++)
		entries[i].verdict = verdicts[i];
	ptc_other_sum_add(&s, &sample);
	return s;
}

Test(other_sum, verdicts)
{
	const uint8_t good[] = { PTC_RUNS_SEEN, PTC_RUNS_POSSIBLE };
	const uint8_t bad[] = { PTC_RUNS_SEEN, PTC_RUNS_LINK, PTC_RUNS_NO_CODE };
	const uint8_t vague[] = { PTC_RUNS_KERNEL, PTC_RUNS_NO_FILE, PTC_RUNS_SEEN,
				  PTC_RUNS_NO_CODE, PTC_RUNS_UNTRACED };
	const struct ptc_compare_limits lenient = { .max_wrong_ppm = 500000 };
	struct ptc_other_sum s = sum_of(good, 2, PTC_RUNS_STACK_EXACT);

	expect(&s, &usual,
	       "POSSIBLE: no entry of 1 sample contradicts the code; 1 stack occurs in "
	       "the other run");
	s = sum_of(bad, 3, PTC_RUNS_STACK_IMPOSSIBLE);
	cr_assert(s.judged == 2 && s.wrong == 1 && s.depths[1].wrong == 1 && !s.depths[2].judged);
	expect(&s, &usual, "WRONG: 1 of 2 judged entries in 1 of 1 sample contradict the code");
	expect(&s, &lenient,
	       "POSSIBLE: 1 of 2 judged entries in 1 of 1 sample contradict the code; --max-wrong "
	       "allows that");
	s = sum_of(vague, 5, PTC_RUNS_STACK_UNKNOWN);
	expect(&s, &usual, "UNKNOWN: only 1 of 5 entries could be judged; see --min-judged");
	s = sum_of(NULL, 3, PTC_RUNS_STACK_SKIPPED);
	expect(&s, &usual, "UNKNOWN: only 0 of 3 entries could be judged; see --min-judged");
}

Test(other_sum, a_shift_of_a_third_of_the_stacks_is_wrong)
{
	struct ptc_other_sum s = {
		.samples = 10, .entries = 10, .judged = 10, .ips = 10, .ips_missed = 9
	};

	expect(&s, &usual,
	       "WRONG: 0 of 10 judged entries in 0 of 10 samples contradict the code; the stacks "
	       "end in front of their ip");
	s.ips = 30;
	cr_assert_eq(ptc_other_judge(&s, &usual), PTC_STACKS_RIGHT);
	s.ips = s.ips_missed = 7;
	cr_assert_eq(ptc_other_judge(&s, &usual), PTC_STACKS_RIGHT);
}
