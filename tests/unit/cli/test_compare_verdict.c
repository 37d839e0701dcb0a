/* SPDX-License-Identifier: MIT */
/* Description: the verdict on a recording is one sentence, which agrees with the exit status. */
#include <criterion/criterion.h>

#include "cli/compare/compare_verdict.h"

static const struct ptc_compare_limits usual = { .min_judged_ppm = 500000 };

static void expect(const struct ptc_compare_sum *s, const struct ptc_compare_limits *limits,
		   const char *want)
{
	char text[512];
	size_t size;

	ptc_compare_verdict_text(text, sizeof(text), s, ptc_compare_verdict(s, limits));
	cr_assert_str_eq(text, want, "%s", text);
	for (size = 1; size < sizeof(text); size++) { /* a text that does not fit is cut off */
		ptc_compare_verdict_text(text, size, s, ptc_compare_verdict(s, limits));
		cr_assert(strlen(text) < size && !strncmp(text, want, strlen(text)));
	}
}

Test(compare_verdict, right)
{
	struct ptc_compare_sum s = { .samples = 105, .entries = 3360, .all = { .judged = 3360 } };

	expect(&s, &usual, "RIGHT: all 3,360 judged entries of 105 samples agree with the trace");
	s.all.judged = 2000;
	expect(&s, &usual,
	       "RIGHT: all 2,000 judged entries of 105 samples agree with the trace; 1,360 more "
	       "could not be judged");
}

Test(compare_verdict, wrong)
{
	struct ptc_compare_sum s = { .samples = 105,
				     .wrong_samples = 4,
				     .entries = 1234567,
				     .all = { .judged = 1234567, .wrong = 4 },
				     .shift = 1,
				     .cpu = 3 };
	const struct ptc_compare_limits lenient = { .max_wrong_ppm = 4 };

	expect(&s, &usual, "WRONG: 4 of 1,234,567 entries in 4 of 105 samples");
	expect(&s, &lenient,
	       "RIGHT: 4 of 1,234,567 entries in 4 of 105 samples; --max-wrong allows that");
	s.all.missing = 1;
	s.patterns = 1u << PTC_PATTERN_CPU | 1u << PTC_PATTERN_STALE;
	expect(&s, &usual,
	       "WRONG: 4 of 1,234,567 entries and 1 missing branch in 4 of 105 samples; the oldest "
	       "entries are stale, of an earlier thread; all errors are on CPU 3");
	s.all.wrong = s.all.missing = s.wrong_samples = 0;
	s.patterns = 1u << PTC_PATTERN_SHIFT;
	expect(&s, &usual,
	       "WRONG: 0 of 1,234,567 entries in 0 of 105 samples; the stacks look shifted by 1 "
	       "branch");
	s.patterns = 1u << PTC_PATTERN_SHIFTED | 1u << PTC_PATTERN_LEAK;
	s.all.missing = 1000;
	s.shift = 2;
	s.leak = PTC_KIND_RET;
	expect(&s, &usual,
	       "WRONG: 0 of 1,234,567 entries and 1,000 missing branches in 0 of 105 samples; some "
	       "stacks look shifted by 2 branches; the filter lets through ret");
}

Test(compare_verdict, unknown)
{
	struct ptc_compare_sum s = { .samples = 1, .entries = 10, .all = { .judged = 1 } };

	expect(&s, &usual, "UNKNOWN: only 1 of 10 entries could be judged; see --min-judged");
	s.entries = s.all.judged = 0;
	expect(&s, &usual, "UNKNOWN: only 0 of 0 entries could be judged; see --min-judged");
}
