/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "cli/compare/compare_report.h"
#include "cli/compare/other_report.h"

enum { SENTENCE_MAX = 512 };

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_stacks(const struct ptc_other_report *r)
{
	const struct ptc_other_sum *s = r->sum;
	int i;

	printf("samples  %" PRIu64, s->samples);
	for (i = 0; i < PTC_RUNS_STACKS; i++)
		if (s->stacks[i])
			printf(", %" PRIu64 " %s", s->stacks[i],
			       ptc_runs_stack_name((enum ptc_runs_stack)i));
	printf("\nentries  %" PRIu64 ", %" PRIu64 " judged (%.2f%%)\n", s->entries, s->judged,
	       part_of(s->judged, s->entries));
	for (i = PTC_RUNS_UNTRACED; i < PTC_RUNS_VERDICTS; i++)
		if (s->verdicts[i])
			printf("  not judged: %" PRIu64 " %s\n", s->verdicts[i],
			       ptc_runs_verdict_name((enum ptc_runs_verdict)i));
	printf("trace    %" PRIu64 " branches; it has %" PRIu64 " of the %" PRIu64
	       " different branches of the stacks\n",
	       r->total->branches, r->total->edges_seen, r->total->edges);
	if (r->trace_software)
		printf("  by the software source %s\n", r->trace_software);
	if (r->total->limited)
		printf("  some stacks were not searched in the trace, or not compared with all "
		       "code: too many\n");
	if (r->total->many_threads)
		printf("  some threads of the trace were not searched: too many\n");
	if (s->ips)
		printf("ip       code leads from %" PRIu64 " of %" PRIu64
		       " stacks to the ip of the sample\n",
		       s->ips - s->ips_missed, s->ips);
}

void ptc_other_print_text(const struct ptc_other_report *r)
{
	const struct ptc_other_sum *s = r->sum;
	char text[SENTENCE_MAX];
	int i;

	ptc_other_judge_text(text, sizeof(text), s, r->verdict);
	printf("%s\n\n", text);
	ptc_compare_print_cpu(&r->cpu);
	print_stacks(r);
	printf("\nverdicts\n");
	for (i = 0; i < PTC_RUNS_UNTRACED; i++)
		if (s->verdicts[i])
			printf("  %-22s %12" PRIu64 " %8.3f%%\n",
			       ptc_runs_verdict_name((enum ptc_runs_verdict)i), s->verdicts[i],
			       part_of(s->verdicts[i], s->judged));
	if (!s->wrong)
		return;
	printf("\nwrong entries by depth (0 is the newest)\n");
	for (i = 0; i < PTC_OTHER_DEPTHS; i++)
		if (s->depths[i].wrong)
			printf("  %-8d %12" PRIu64 " judged %10" PRIu64 " wrong\n", i,
			       s->depths[i].judged, s->depths[i].wrong);
}
