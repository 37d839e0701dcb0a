/* SPDX-License-Identifier: MIT */
#include "decode/compare_sum.h"

#include <stdlib.h>
#include <string.h>

#include "decode/grow.h"

const char *ptc_pattern_name(enum ptc_sum_pattern p)
{
	static const char *const names[PTC_PATTERN_COUNT] = {
		[PTC_PATTERN_DUPLICATED_TOP] = "duplicated top entry",
		[PTC_PATTERN_OLDEST] = "wrong oldest entry",
		[PTC_PATTERN_STALE] = "stale oldest entries",
		[PTC_PATTERN_SHIFT] = "constant shift",
		[PTC_PATTERN_LEAK] = "filter leak",
		[PTC_PATTERN_CPU] = "one bad CPU",
	};

	return p < PTC_PATTERN_COUNT ? names[p] : "?";
}

static void release_sample(struct ptc_sum_sample *w)
{
	size_t i;

	for (i = 0; w->names && i < w->n; i++)
		free(w->names[i]);
	free(w->names);
	free(w->entries);
	free(w->verdicts);
	free(w->steps);
	*w = (struct ptc_sum_sample){ .n = 0 };
}

void ptc_compare_sum_release(struct ptc_compare_sum *s)
{
	size_t i;

	for (i = 0; i < s->nworst; i++)
		release_sample(&s->worst[i]);
	for (i = 0; i < s->nplaces; i++)
		free(s->places[i].name);
	free(s->places);
	free(s->cpus);
	*s = (struct ptc_compare_sum){ .samples = 0 };
}

static struct ptc_sum_cpu *cpu_of(struct ptc_compare_sum *s, int32_t cpu)
{
	size_t i = 0;

	while (i < s->ncpus && s->cpus[i].cpu < cpu)
		i++;
	if (i < s->ncpus && s->cpus[i].cpu == cpu)
		return &s->cpus[i];
	if (!ptc_grow(&s->cpus, &s->cpus_cap, s->ncpus + 1, sizeof(*s->cpus)))
		return NULL;
	memmove(&s->cpus[i + 1], &s->cpus[i], (s->ncpus - i) * sizeof(*s->cpus));
	s->cpus[i] = (struct ptc_sum_cpu){ .cpu = cpu };
	s->ncpus++;
	return &s->cpus[i];
}

static char *name_of(const struct ptc_compare_sum *s, const struct ptc_compare_sample *one,
		     uint64_t ip)
{
	return s->name ? s->name(s->ctx, &one->where, ip) : NULL;
}

/* Count for the source @from; beyond PTC_SUM_PLACES they are not told apart any more. */
static bool add_place(struct ptc_compare_sum *s, const struct ptc_compare_sample *one,
		      uint64_t from, bool wrong, uint32_t missing)
{
	size_t lo = 0, hi = s->nplaces;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->places[mid].from < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->nplaces || s->places[lo].from != from) {
		if (s->nplaces == PTC_SUM_PLACES)
			return true;
		if (!ptc_grow(&s->places, &s->places_cap, s->nplaces + 1, sizeof(*s->places)))
			return false;
		memmove(&s->places[lo + 1], &s->places[lo], (s->nplaces - lo) * sizeof(*s->places));
		s->places[lo] = (struct ptc_sum_place){ .from = from };
		s->places[lo].name = name_of(s, one, from);
		s->nplaces++;
	}
	s->places[lo].wrong += wrong;
	s->places[lo].missing += missing;
	return true;
}

static bool is_wrong(enum ptc_verdict v)
{
	return ptc_verdict_is_judged(v) && v != PTC_VERDICT_EXACT;
}

static enum ptc_verdict verdict(const struct ptc_compare_sample *one, size_t i)
{
	return (enum ptc_verdict)one->verdicts[i].verdict;
}

static void count(struct ptc_sum_count *c, enum ptc_verdict v, uint32_t missing)
{
	c->judged += ptc_verdict_is_judged(v);
	c->wrong += is_wrong(v);
	c->missing += missing;
}

/* The transfers that the stack lacks between entry @i and the next older one, by their sources. */
static bool add_missing(struct ptc_compare_sum *s, const struct ptc_compare_sample *one, size_t i)
{
	uint32_t left = one->verdicts[i].missing;
	size_t at = one->verdicts[i].step;

	while (left && at != PTC_ALIGN_NONE && at--) {
		const struct ptc_step *step = &one->steps[at];

		if (!(step->flags & PTC_STEP_WANTED))
			continue;
		s->kinds[step->kind].missing++;
		if (!add_place(s, one, step->from, false, 1))
			return false;
		left--;
	}
	return true;
}

static bool add_entry(struct ptc_compare_sum *s, const struct ptc_compare_sample *one, size_t i)
{
	const enum ptc_verdict v = verdict(one, i);
	const uint32_t missing = one->verdicts[i].missing;
	const size_t step = one->verdicts[i].step;
	const size_t depth = i < PTC_SUM_DEPTHS ? i : PTC_SUM_DEPTHS - 1;
	const uint8_t kind = step == PTC_ALIGN_NONE ? PTC_KIND_NONE : one->steps[step].kind;

	s->verdicts[v]++;
	s->depths[depth][v]++;
	s->missing_at[depth] += missing;
	count(&s->all, v, missing);
	count(&s->kinds[kind], v, 0);
	s->leaks[kind] += v == PTC_VERDICT_CLASS;
	s->wrong_oldest += is_wrong(v) && i + 1 == one->n;
	return (!is_wrong(v) || add_place(s, one, one->entries[i].from, true, 0)) &&
	       add_missing(s, one, i);
}

static void add_shift(struct ptc_compare_sum *s, const struct ptc_align_result *place)
{
	if (!place->fits)
		return;
	s->located++;
	s->shifts[place->shift < PTC_SUM_SHIFTS ? place->shift : PTC_SUM_SHIFTS - 1]++;
}

static void add_tail(struct ptc_compare_sum *s, const struct ptc_compare_sample *one)
{
	size_t i;

	for (i = one->n; i && verdict(one, i - 1) == PTC_VERDICT_ABSENT; i--)
		s->absent_tail++;
}

static bool copy_sample(const struct ptc_compare_sum *s, const struct ptc_compare_sample *one,
			struct ptc_sum_sample *w)
{
	size_t i;

	w->n = one->n;
	w->entries = calloc(w->n, sizeof(*w->entries));
	w->verdicts = calloc(w->n, sizeof(*w->verdicts));
	w->steps = calloc(w->n, sizeof(*w->steps));
	w->names = calloc(w->n, sizeof(*w->names));
	if (!w->entries || !w->verdicts || !w->steps || !w->names)
		return false;
	for (i = 0; i < w->n; i++) {
		w->entries[i] = one->entries[i];
		w->verdicts[i] = one->verdicts[i];
		if (w->verdicts[i].step != PTC_ALIGN_NONE)
			w->steps[i] = one->steps[w->verdicts[i].step];
		w->names[i] = name_of(s, one, w->entries[i].from);
	}
	return true;
}

/* Keep it if it is worse than one of the worst. Of equal ones the first is kept. */
static bool add_worst(struct ptc_compare_sum *s, const struct ptc_compare_sample *one,
		      uint64_t wrong)
{
	struct ptc_sum_sample w = { .off = one->off,
				    .time = one->where.time,
				    .tid = one->where.tid,
				    .cpu = one->where.cpu,
				    .wrong = wrong };
	size_t at = s->nworst;

	while (at && s->worst[at - 1].wrong < wrong)
		at--;
	if (at == PTC_SUM_WORST)
		return true;
	if (!copy_sample(s, one, &w)) {
		release_sample(&w);
		return false;
	}
	if (s->nworst == PTC_SUM_WORST)
		release_sample(&s->worst[--s->nworst]);
	memmove(&s->worst[at + 1], &s->worst[at], (s->nworst - at) * sizeof(w));
	s->worst[at] = w;
	s->nworst++;
	return true;
}

bool ptc_compare_sum_add(struct ptc_compare_sum *s, const struct ptc_compare_sample *one)
{
	const struct ptc_sum_count before = s->all;
	struct ptc_sum_cpu *cpu;
	uint64_t wrong;
	size_t i;

	s->samples++;
	s->skipped[one->skip]++;
	s->skipped_entries[one->skip] += one->n;
	s->entries += one->n;
	if (one->skip != PTC_COMPARE_JUDGED)
		return true;
	for (i = 0; i < one->n; i++)
		if (!add_entry(s, one, i))
			return false;
	add_shift(s, &one->place);
	add_tail(s, one);
	s->ambiguous_places += one->place.candidates > 1;
	wrong = s->all.wrong - before.wrong + s->all.missing - before.missing;
	s->exact_samples += !wrong && s->all.judged - before.judged == one->n;
	cpu = cpu_of(s, one->where.cpu);
	if (!cpu)
		return false;
	cpu->count.judged += s->all.judged - before.judged;
	cpu->count.wrong += s->all.wrong - before.wrong;
	cpu->count.missing += s->all.missing - before.missing;
	return !wrong || add_worst(s, one, wrong);
}

/* Nearly all of @whole, which is not nothing. */
static bool is_most(uint64_t part, uint64_t whole)
{
	return part && part >= whole - whole / 10;
}

/* In a loop a shift cannot be seen, or not all of it: many samples may seem to have none, or less.
 */
static void look_for_shift(struct ptc_compare_sum *s)
{
	uint32_t k;

	for (k = 1; k + 1 < PTC_SUM_SHIFTS; k++)
		if (s->shifts[k] > (s->located - s->shifts[0]) / 2 &&
		    s->shifts[k] >= s->located / 5) {
			s->patterns |= 1u << PTC_PATTERN_SHIFT;
			s->shift = k;
		}
}

static void look_for_leak(struct ptc_compare_sum *s)
{
	unsigned int k;

	if (!s->verdicts[PTC_VERDICT_CLASS])
		return;
	s->patterns |= 1u << PTC_PATTERN_LEAK;
	for (k = 0; k < PTC_KIND_COUNT; k++)
		if (s->leaks[k] == s->verdicts[PTC_VERDICT_CLASS])
			s->leak = (uint8_t)k;
}

/* One where most errors are, and not because most entries are. */
static void look_for_cpu(struct ptc_compare_sum *s)
{
	const uint64_t wrong = s->all.wrong + s->all.missing;
	size_t i;

	for (i = 0; i < s->ncpus; i++) {
		const struct ptc_sum_count *c = &s->cpus[i].count;

		if (is_most(c->wrong + c->missing, wrong) && !is_most(c->judged, s->all.judged)) {
			s->patterns |= 1u << PTC_PATTERN_CPU;
			s->cpu = s->cpus[i].cpu;
		}
	}
}

static int by_errors(const void *a, const void *b)
{
	const struct ptc_sum_place *x = a, *y = b;
	const uint64_t xs = x->wrong + x->missing, ys = y->wrong + y->missing;

	if (xs != ys)
		return xs > ys ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

void ptc_compare_sum_finish(struct ptc_compare_sum *s)
{
	const uint64_t wrong = s->all.wrong + s->all.missing;

	if (is_most(s->depths[0][PTC_VERDICT_DUPLICATED], s->verdicts[PTC_VERDICT_DUPLICATED]))
		s->patterns |= 1u << PTC_PATTERN_DUPLICATED_TOP;
	if (is_most(s->wrong_oldest, wrong))
		s->patterns |= 1u << PTC_PATTERN_OLDEST;
	if (is_most(s->absent_tail, s->verdicts[PTC_VERDICT_ABSENT]))
		s->patterns |= 1u << PTC_PATTERN_STALE;
	look_for_shift(s);
	look_for_leak(s);
	look_for_cpu(s);
	if (s->nplaces)
		qsort(s->places, s->nplaces, sizeof(*s->places), by_errors);
}
