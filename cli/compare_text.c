/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "compare_report.h"

enum { PLACES = 10 };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_confidence(const struct ptc_compare_sum *s)
{
	int i;

	printf("samples  %" PRIu64 ", %" PRIu64 " of them exact\n", s->samples, s->exact_samples);
	printf("entries  %" PRIu64 ", %" PRIu64 " judged (%.2f%%)\n", s->entries, s->all.judged,
	       percent(s->all.judged, s->entries));
	for (i = PTC_VERDICT_OUTSIDE; i < PTC_VERDICT_COUNT; i++)
		if (s->verdicts[i])
			printf("  not judged: %" PRIu64 " %s\n", s->verdicts[i],
			       ptc_verdict_name((enum ptc_verdict)i));
	for (i = PTC_COMPARE_JUDGED + 1; i < PTC_COMPARE_SKIPS; i++)
		if (s->skipped[i])
			printf("  not judged: %" PRIu64 " in %" PRIu64 " samples: %s\n",
			       s->skipped_entries[i], s->skipped[i],
			       ptc_compare_skip_name((enum ptc_compare_skip)i));
	if (s->ambiguous_places)
		printf("  %" PRIu64 " samples can be read at several places\n",
		       s->ambiguous_places);
}

static void print_verdicts(const struct ptc_compare_sum *s)
{
	int i;

	printf("\nverdicts\n");
	for (i = 0; i < PTC_VERDICT_OUTSIDE; i++)
		if (s->verdicts[i])
			printf("  %-18s %12" PRIu64 " %8.3f%%\n",
			       ptc_verdict_name((enum ptc_verdict)i), s->verdicts[i],
			       percent(s->verdicts[i], s->all.judged));
	if (s->all.missing)
		printf("  %-18s %12" PRIu64 "\n", "missing", s->all.missing);
}

static void print_patterns(const struct ptc_compare_sum *s)
{
	unsigned int i;

	if (s->patterns)
		printf("\npatterns\n");
	for (i = 0; i < PTC_PATTERN_COUNT; i++) {
		if (!(s->patterns >> i & 1))
			continue;
		printf("  %s", ptc_pattern_name((enum ptc_sum_pattern)i));
		if (i == PTC_PATTERN_SHIFT)
			printf(": %" PRIu32, s->shift);
		if (i == PTC_PATTERN_CPU)
			printf(": %" PRId32, s->cpu);
		if (i == PTC_PATTERN_LEAK && s->leak)
			printf(": %s", ptc_kind_name((enum ptc_kind)s->leak));
		putchar('\n');
	}
}

/* Wrong entries in front of the missing ones. */
static void print_count(const struct ptc_sum_count *c)
{
	printf(" %12" PRIu64 " judged %10" PRIu64 " wrong %10" PRIu64 " missing\n", c->judged,
	       c->wrong, c->missing);
}

static struct ptc_sum_count depth_count(const struct ptc_compare_sum *s, size_t depth)
{
	struct ptc_sum_count c = { .missing = s->missing_at[depth] };
	int v;

	for (v = 0; v < PTC_VERDICT_OUTSIDE; v++) {
		c.judged += s->depths[depth][v];
		c.wrong += v == PTC_VERDICT_EXACT ? 0 : s->depths[depth][v];
	}
	return c;
}

static void print_groups(const struct ptc_compare_sum *s)
{
	size_t i;

	printf("\nby depth (0 is the newest), where something is wrong\n");
	for (i = 0; i < PTC_SUM_DEPTHS; i++) {
		const struct ptc_sum_count c = depth_count(s, i);

		if (c.wrong || c.missing) {
			printf("  %-8zu", i);
			print_count(&c);
		}
	}
	printf("\nby class of branch\n");
	for (i = 0; i < PTC_KIND_COUNT; i++)
		if (s->kinds[i].judged || s->kinds[i].missing) {
			printf("  %-8s", i ? ptc_kind_name((enum ptc_kind)i) : "unknown");
			print_count(&s->kinds[i]);
		}
	printf("\nby CPU\n");
	for (i = 0; i < s->ncpus; i++) {
		printf("  %-8" PRId32, s->cpus[i].cpu);
		print_count(&s->cpus[i].count);
	}
}

static void print_places(const struct ptc_compare_sum *s)
{
	size_t i;

	printf("\nbranches that lie most\n");
	for (i = 0; i < s->nplaces && i < PLACES; i++)
		printf("  %16" PRIx64 " %8" PRIu64 " wrong %8" PRIu64 " missing  %s\n",
		       s->places[i].from, s->places[i].wrong, s->places[i].missing,
		       s->places[i].name ? s->places[i].name : "?");
}

static void print_sample(const struct ptc_sum_sample *w)
{
	size_t i;

	printf("\nsample at 0x%" PRIx64 ": time %" PRIu64 ".%09" PRIu64 ", tid %" PRId32
	       ", cpu %" PRId32 ", %" PRIu64 " wrong; branch stack | trace\n",
	       w->off, w->time / 1000000000, w->time % 1000000000, w->tid, w->cpu, w->wrong);
	for (i = 0; i < w->n; i++) {
		const struct ptc_branch *e = &w->entries[i];
		const struct ptc_step *s = &w->steps[i];

		printf("  %3zu %16" PRIx64 " %16" PRIx64 " | ", i, e->from, e->to);
		if (s->from)
			printf("%16" PRIx64 " %16" PRIx64 " %-8s", s->from, s->to,
			       ptc_kind_name((enum ptc_kind)s->kind));
		else
			printf("%16s %16s %-8s", "-", "-", "-");
		printf(" %-18s %s\n", ptc_verdict_name((enum ptc_verdict)w->verdicts[i].verdict),
		       w->names[i] ? w->names[i] : "");
		if (w->verdicts[i].missing)
			printf("      missing here: %" PRIu32 "\n", w->verdicts[i].missing);
	}
}

void ptc_compare_print_text(const struct ptc_compare_sum *s)
{
	size_t i;

	print_confidence(s);
	print_verdicts(s);
	print_patterns(s);
	if (!s->all.wrong && !s->all.missing)
		return;
	print_groups(s);
	print_places(s);
	for (i = 0; i < s->nworst; i++)
		print_sample(&s->worst[i]);
}
