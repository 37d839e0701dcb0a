/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "cli/compare/other_report.h"

/*
 * A constant shift needs this many stacks, and one of SHIFTED_OF that can be compared. In loops
 * code often leads from a shifted stack to the ip.
 */
enum { SHIFTED_LEAST = 8, SHIFTED_OF = 3 };

void ptc_other_sum_add(struct ptc_other_sum *s, const struct ptc_runs_sample *sample)
{
	uint64_t wrong = 0;
	size_t i;

	s->samples++;
	s->stacks[sample->stack]++;
	s->entries += sample->n;
	s->ips += sample->has_ip;
	s->ips_missed += sample->has_ip && !sample->leads_to_ip;
	for (i = 0; sample->stack != PTC_RUNS_STACK_SKIPPED && i < sample->n; i++) {
		const enum ptc_runs_verdict v =
			(enum ptc_runs_verdict)ptc_runs_entry(sample, i)->verdict;
		const size_t depth = i < PTC_OTHER_DEPTHS ? i : PTC_OTHER_DEPTHS - 1;

		s->verdicts[v]++;
		s->depths[depth].judged += ptc_runs_is_judged(v);
		s->depths[depth].wrong += ptc_runs_is_wrong(v);
		s->judged += ptc_runs_is_judged(v);
		wrong += ptc_runs_is_wrong(v);
	}
	s->wrong += wrong;
	s->wrong_samples += wrong != 0;
}

bool ptc_other_is_shifted(const struct ptc_other_sum *s)
{
	return s->ips_missed >= SHIFTED_LEAST && s->ips_missed >= s->ips / SHIFTED_OF;
}

static bool exceeds(uint64_t part, uint64_t whole, uint64_t ppm)
{
	return (double)part * 1e6 > (double)whole * (double)ppm;
}

enum ptc_stacks_are ptc_other_judge(const struct ptc_other_sum *s,
				    const struct ptc_compare_limits *limits)
{
	if (exceeds(s->wrong, s->judged, limits->max_wrong_ppm) || ptc_other_is_shifted(s))
		return PTC_STACKS_WRONG;
	if (!s->judged || !exceeds(s->judged + 1, s->entries, limits->min_judged_ppm))
		return PTC_STACKS_UNKNOWN;
	return PTC_STACKS_RIGHT;
}

const char *ptc_other_judge_name(enum ptc_stacks_are are)
{
	return are == PTC_STACKS_RIGHT ? "POSSIBLE" : ptc_compare_verdict_name(are);
}

void ptc_other_judge_text(char *text, size_t size, const struct ptc_other_sum *s,
			  enum ptc_stacks_are are)
{
	const char *name = ptc_other_judge_name(are);

	if (are == PTC_STACKS_UNKNOWN)
		(void)snprintf(text, size,
			       "%s: only %" PRIu64 " of %" PRIu64
			       " entries could be judged; see --min-judged",
			       name, s->judged, s->entries);
	else if (are == PTC_STACKS_WRONG || s->wrong)
		(void)snprintf(text, size,
			       "%s: %" PRIu64 " of %" PRIu64 " judged entr%s in %" PRIu64
			       " of %" PRIu64 " sample%s contradict the code%s",
			       name, s->wrong, s->judged, s->judged == 1 ? "y" : "ies",
			       s->wrong_samples, s->samples, ptc_plural(s->samples),
			       are != PTC_STACKS_WRONG ? "; --max-wrong allows that" :
			       ptc_other_is_shifted(s) ? "; the stacks end in front of their ip" :
							 "");
	else
		(void)snprintf(text, size,
			       "%s: no entry of %" PRIu64 " sample%s contradicts the code; %" PRIu64
			       " stack%s occur%s in the other run",
			       name, s->samples, ptc_plural(s->samples),
			       s->stacks[PTC_RUNS_STACK_EXACT],
			       ptc_plural(s->stacks[PTC_RUNS_STACK_EXACT]),
			       s->stacks[PTC_RUNS_STACK_EXACT] == 1 ? "s" : "");
}
