/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/compare/compare_report.h"

/* BESIDE: equal rows that are printed before and behind a row that differs. */
enum {
	PLACES = 10,
	PLACE_MAX = 256,
	SIDE_MAX = 2 * PLACE_MAX + 8,
	WIDE = 120,
	BESIDE = 2,
	VERDICT_MAX = 512
};

/* Format a location: "401ad5 smash+0x3b prog.c:63", with the known parts. */
static void place_text(char *text, size_t size, uint64_t ip, const struct ptc_side_place *p)
{
	const char *slash = p->file ? strrchr(p->file, '/') : NULL;
	char function[PLACE_MAX / 2] = "", line[PLACE_MAX / 2] = "";
	char name[PLACE_MAX / 2 - 24]; /* leaves space for a number behind */

	if (p->function) {
		ptc_plain_copy(name, sizeof(name), p->function);
		(void)snprintf(function, sizeof(function), " %s+0x%" PRIx64, name, p->off);
	}
	if (p->file) {
		ptc_plain_copy(name, sizeof(name), slash ? slash + 1 : p->file);
		(void)snprintf(line, sizeof(line), "  %s:%d", name, p->line);
	}
	(void)snprintf(text, size, "%" PRIx64 "%s%s", ip, function, line);
}

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
	for (i = PTC_VERDICT_BEFORE; i < PTC_VERDICT_COUNT; i++)
		if (s->verdicts[i] && i != PTC_VERDICT_GAP)
			printf("  not judged: %" PRIu64 " %s\n", s->verdicts[i],
			       ptc_verdict_name((enum ptc_verdict)i));
	for (i = 0; i < PTC_GAP_COUNT; i++)
		if (s->gaps[i])
			printf("  not judged: %" PRIu64 " in a gap (%s)\n", s->gaps[i],
			       ptc_gap_name((enum ptc_gap_cause)i));
	for (i = PTC_COMPARE_JUDGED + 1; i < PTC_COMPARE_SKIPS; i++)
		if (s->skipped[i])
			printf("  not judged: %" PRIu64 " in %" PRIu64 " sample%s: %s\n",
			       s->skipped_entries[i], s->skipped[i], ptc_plural(s->skipped[i]),
			       ptc_compare_skip_name((enum ptc_compare_skip)i));
	if (s->limited)
		printf("  %" PRIu64 " sample%s not checked for stale entries of all other threads: "
		       "too many threads\n",
		       s->limited, ptc_plural(s->limited));
	printf("matches  %" PRIu64 " samples match 1 position in the trace, %" PRIu64
	       " match 2 to 9, %" PRIu64 " match 10 to 99, %" PRIu64 " match more\n",
	       s->candidates[0], s->candidates[1], s->candidates[2], s->candidates[3]);
}

static void print_verdicts(const struct ptc_compare_sum *s)
{
	int i;

	printf("\nverdicts\n");
	for (i = 0; i < PTC_VERDICT_BEFORE; i++)
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
		if (i == PTC_PATTERN_SHIFT || i == PTC_PATTERN_SHIFTED)
			printf(": by %" PRIu32 ", %" PRIu64 " of %" PRIu64 " samples", s->shift,
			       s->may[s->shift], s->located);
		if (i == PTC_PATTERN_CPU)
			printf(": %" PRId32, s->cpu);
		if (i == PTC_PATTERN_LEAK && s->leak)
			printf(": %s", ptc_kind_name((enum ptc_kind)s->leak));
		putchar('\n');
	}
}

/* Print counts, wrong entries before missing ones. */
static void print_count(const struct ptc_sum_count *c)
{
	printf(" %12" PRIu64 " judged %10" PRIu64 " wrong %10" PRIu64 " missing\n", c->judged,
	       c->wrong, c->missing);
}

static struct ptc_sum_count depth_count(const struct ptc_compare_sum *s, size_t depth)
{
	struct ptc_sum_count c = { .missing = s->missing_at[depth] };
	int v;

	for (v = 0; v < PTC_VERDICT_BEFORE; v++) {
		c.judged += s->depths[depth][v];
		c.wrong += v == PTC_VERDICT_EXACT ? 0 : s->depths[depth][v];
	}
	return c;
}

static void print_groups(const struct ptc_compare_sum *s)
{
	size_t i;

	printf("\nwrong entries by depth (0 is the newest)\n");
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

	printf("\nfunctions with the most wrong branches\n");
	for (i = 0; i < s->nfunctions && i < PLACES; i++) {
		const char *name = s->functions[i].name;

		printf("  %8" PRIu64 " wrong %8" PRIu64 " missing  ", s->functions[i].wrong,
		       s->functions[i].missing);
		ptc_plain_put(stdout, name ? name : "?");
		putchar('\n');
	}
	printf("\nmost wrong branches\n");
	for (i = 0; i < s->nplaces && i < PLACES; i++) {
		char text[PLACE_MAX];

		place_text(text, sizeof(text), s->places[i].from, &s->places[i].place);
		printf("  %8" PRIu64 " wrong %8" PRIu64 " missing  %s\n", s->places[i].wrong,
		       s->places[i].missing, text);
	}
}

/* Format "FROM -> TO". */
static int side_text(char *text, size_t size, const struct ptc_side_end ends[2])
{
	char from[PLACE_MAX], to[PLACE_MAX];

	if (!ends[0].ip && !ends[1].ip)
		return snprintf(text, size, "-");
	place_text(from, sizeof(from), ends[0].ip, &ends[0].place);
	place_text(to, sizeof(to), ends[1].ip, &ends[1].place);
	return snprintf(text, size, "%s -> %s", from, to);
}

static bool is_equal(const struct ptc_side_row *row)
{
	return !row->missing && row->verdict == PTC_VERDICT_EXACT;
}

static void print_row(const struct ptc_side_row *row, int width)
{
	char lbr[SIDE_MAX], trace[SIDE_MAX];
	const bool exact = is_equal(row);

	(void)side_text(lbr, sizeof(lbr), row->lbr);
	(void)side_text(trace, sizeof(trace), row->trace);
	if (row->missing)
		printf("  %3s %-*s | %s  missing\n", "", width, lbr, trace);
	else if (exact)
		printf("  %3zu %-*s | =\n", row->depth, width, lbr);
	else
		printf("  %3zu %-*s | %s  %s\n", row->depth, width, lbr, trace,
		       ptc_verdict_name((enum ptc_verdict)row->verdict));
}

/* Is row @i equal, as are the rows beside it? */
static bool is_far_from_errors(const struct ptc_side *w, size_t i)
{
	const size_t first = i > BESIDE ? i - BESIDE : 0;
	const size_t end = w->n - i > BESIDE ? i + BESIDE + 1 : w->n;
	size_t k;

	for (k = first; k < end; k++)
		if (!is_equal(&w->rows[k]))
			return false;
	return true;
}

/* Print a line for @n rows that are left out. */
static void print_equal(size_t *n)
{
	if (*n)
		printf("      ... %zu equal row%s\n", *n, ptc_plural(*n));
	*n = 0;
}

static void print_sample(const struct ptc_side *w)
{
	size_t i, equal = 0;
	int width = 0;

	printf("\nsample at 0x%" PRIx64 ": time %" PRIu64 ".%09" PRIu64 ", tid %" PRId32
	       ", cpu %" PRId32 ", %" PRIu64
	       " wrong, %zu match%s in the trace; branch stack | trace\n",
	       w->off, w->time / 1000000000, w->time % 1000000000, w->tid, w->cpu, w->wrong,
	       w->candidates, ptc_plural_es(w->candidates));
	for (i = 0; i < w->n; i++) {
		char text[SIDE_MAX];
		const int len = is_far_from_errors(w, i) ?
					0 :
					side_text(text, sizeof(text), w->rows[i].lbr);

		width = len > width && len < WIDE ? len : width;
	}
	for (i = 0; i < w->n; i++) {
		if (is_far_from_errors(w, i)) {
			equal++;
			continue;
		}
		print_equal(&equal);
		print_row(&w->rows[i], width);
	}
	print_equal(&equal);
}

void ptc_compare_print_text(const struct ptc_compare_sum *s, enum ptc_stacks_are verdict,
			    const struct ptc_recorded_cpu *cpu)
{
	char text[VERDICT_MAX];
	size_t i;

	ptc_compare_verdict_text(text, sizeof(text), s, verdict);
	printf("%s\n\n", text);
	ptc_compare_print_cpu(cpu);
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
