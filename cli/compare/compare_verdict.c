/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare_verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/plural.h"

enum { NUMBER_MAX = 32 };

/* Is @part more than @ppm millionths of @whole? */
static bool is_above(uint64_t part, uint64_t whole, uint64_t ppm)
{
	return (double)part * 1e6 > (double)whole * (double)ppm;
}

enum ptc_stacks_are ptc_compare_verdict(const struct ptc_compare_sum *s,
					const struct ptc_compare_limits *limits)
{
	if (is_above(s->all.wrong + s->all.missing, s->all.judged, limits->max_wrong_ppm) ||
	    s->patterns & 1u << PTC_PATTERN_SHIFT)
		return PTC_STACKS_WRONG;
	if (!s->all.judged || !is_above(s->all.judged + 1, s->entries, limits->min_judged_ppm))
		return PTC_STACKS_UNKNOWN;
	return PTC_STACKS_RIGHT;
}

const char *ptc_compare_verdict_name(enum ptc_stacks_are are)
{
	static const char *const names[] = { "RIGHT", "WRONG", "UNKNOWN" };

	return names[are];
}

/* A text that is appended to. */
struct sentence {
	char *text;
	size_t size, n;
};

static __attribute__((format(printf, 2, 3))) void say(struct sentence *s, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(s->text + s->n, s->size - s->n, format, ap);
	va_end(ap);
	s->n += n < 0 ? 0 : (size_t)n;
	if (s->n >= s->size)
		s->n = s->size - 1;
}

/* Append @v with a comma between each three digits. */
static void say_number(struct sentence *s, uint64_t v)
{
	char text[NUMBER_MAX];
	size_t at = sizeof(text) - 1, digits = 0;

	text[at] = '\0';
	do {
		if (digits && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + v % 10);
		digits++;
		v /= 10;
	} while (v);
	say(s, "%s", text + at);
}

/* Append @n and its noun. */
static void say_count(struct sentence *s, uint64_t n, const char *one, const char *many)
{
	say_number(s, n);
	say(s, " %s", n == 1 ? one : many);
}

static bool has(const struct ptc_compare_sum *sum, enum ptc_sum_pattern pattern)
{
	return sum->patterns >> pattern & 1;
}

/* Append what the errors have in common. */
static void say_patterns(struct sentence *s, const struct ptc_compare_sum *sum)
{
	if (has(sum, PTC_PATTERN_SHIFT) || has(sum, PTC_PATTERN_SHIFTED))
		say(s, "; %s look shifted by %" PRIu32 " branch%s",
		    has(sum, PTC_PATTERN_SHIFT) ? "the stacks" : "some stacks", sum->shift,
		    ptc_plural_es(sum->shift));
	if (has(sum, PTC_PATTERN_DUPLICATED_TOP))
		say(s, "; the newest entry is duplicated");
	if (has(sum, PTC_PATTERN_OLDEST))
		say(s, "; the oldest entry is wrong");
	if (has(sum, PTC_PATTERN_STALE))
		say(s, "; the oldest entries are stale, of an earlier thread");
	if (has(sum, PTC_PATTERN_LEAK) && sum->leak)
		say(s, "; the filter lets through %s", ptc_kind_name((enum ptc_kind)sum->leak));
	else if (has(sum, PTC_PATTERN_LEAK))
		say(s, "; the filter lets classes through");
	if (has(sum, PTC_PATTERN_CPU))
		say(s, "; all errors are on CPU %" PRId32, sum->cpu);
}

/* Append the numbers of errors: "4 of 3,360 entries in 4 of 105 samples; 1 branch is missing". */
static void say_errors(struct sentence *s, const struct ptc_compare_sum *sum)
{
	say_number(s, sum->all.wrong);
	say(s, " of ");
	say_count(s, sum->all.judged, "entry", "entries");
	if (sum->all.missing) {
		say(s, " and ");
		say_count(s, sum->all.missing, "missing branch", "missing branches");
	}
	say(s, " in ");
	say_number(s, sum->wrong_samples);
	say(s, " of ");
	say_count(s, sum->samples, "sample", "samples");
}

static void say_right(struct sentence *s, const struct ptc_compare_sum *sum)
{
	if (sum->all.wrong || sum->all.missing) {
		say_errors(s, sum);
		say(s, "; --max-wrong allows that");
		return;
	}
	say(s, "all ");
	say_count(s, sum->all.judged, "judged entry", "judged entries");
	say(s, " of ");
	say_count(s, sum->samples, "sample", "samples");
	say(s, " agree with the trace");
	if (sum->entries > sum->all.judged) {
		say(s, "; ");
		say_number(s, sum->entries - sum->all.judged);
		say(s, " more could not be judged");
	}
}

static void say_unknown(struct sentence *s, const struct ptc_compare_sum *sum)
{
	say(s, "only ");
	say_number(s, sum->all.judged);
	say(s, " of ");
	say_count(s, sum->entries, "entry", "entries");
	say(s, " could be judged; see --min-judged");
}

void ptc_compare_verdict_text(char *text, size_t size, const struct ptc_compare_sum *sum,
			      enum ptc_stacks_are are)
{
	struct sentence s = { .text = text, .size = size };

	text[0] = '\0';
	say(&s, "%s: ", ptc_compare_verdict_name(are));
	switch (are) {
	case PTC_STACKS_RIGHT:
		say_right(&s, sum);
		break;
	case PTC_STACKS_WRONG:
		say_errors(&s, sum);
		say_patterns(&s, sum);
		break;
	case PTC_STACKS_UNKNOWN:
		say_unknown(&s, sum);
		break;
	}
}
