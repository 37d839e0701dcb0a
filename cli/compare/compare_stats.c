/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare_stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

const char *ptc_pattern_name(enum ptc_sum_pattern p)
{
	static const char *const names[PTC_PATTERN_COUNT] = {
		[PTC_PATTERN_DUPLICATED_TOP] = "duplicated top entry",
		[PTC_PATTERN_OLDEST] = "wrong oldest entry",
		[PTC_PATTERN_STALE] = "stale oldest entries",
		[PTC_PATTERN_SHIFT] = "constant shift",
		[PTC_PATTERN_SHIFTED] = "some samples shifted",
		[PTC_PATTERN_LEAK] = "filter leak",
		[PTC_PATTERN_CPU] = "one bad CPU",
	};

	return p < PTC_PATTERN_COUNT ? names[p] : "?";
}

void ptc_compare_sum_release(struct ptc_compare_sum *s)
{
	size_t i;

	for (i = 0; i < s->nworst; i++)
		ptc_side_release(&s->worst[i]);
	for (i = 0; i < s->nplaces; i++)
		ptc_side_place_release(&s->places[i].place);
	free(s->places);
	free(s->functions);
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

/* Count for the source @from. Beyond PTC_SUM_PLACES, new sources are not counted. */
static bool add_place(struct ptc_compare_sum *s, const struct ptc_compare_sample *one,
		      uint64_t from, bool wrong)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, s->nplaces, s->places[i].from < from);

	if (at == s->nplaces || s->places[at].from != from) {
		if (s->nplaces == PTC_SUM_PLACES)
			return true;
		if (!ptc_grow(&s->places, &s->places_cap, s->nplaces + 1, sizeof(*s->places)))
			return false;
		memmove(&s->places[at + 1], &s->places[at], (s->nplaces - at) * sizeof(*s->places));
		s->places[at] = (struct ptc_sum_place){ .from = from };
		s->nplaces++;
		if (s->names &&
		    !s->names->find(s->names->ctx, &one->where, from, &s->places[at].place))
			return false;
	}
	s->places[at].wrong += wrong;
	s->places[at].missing += !wrong;
	return true;
}

static bool is_wrong(enum ptc_verdict v)
{
	return ptc_verdict_is_judged(v) && v != PTC_VERDICT_EXACT;
}

static enum ptc_verdict verdict(const struct ptc_compare_sample *one, size_t i)
{
	return (enum ptc_verdict)ptc_compare_entry(one, i)->verdict;
}

static void count_verdict(struct ptc_sum_count *c, enum ptc_verdict v)
{
	c->judged += ptc_verdict_is_judged(v);
	c->wrong += is_wrong(v);
}

struct adding {
	struct ptc_compare_sum *s;
	const struct ptc_compare_sample *one;
};

static bool add_missing(void *ctx, const struct ptc_side_row *row)
{
	const struct adding *a = ctx;
	const size_t depth = row->depth < PTC_SUM_DEPTHS ? row->depth : PTC_SUM_DEPTHS - 1;

	a->s->all.missing++;
	a->s->missing_at[depth]++;
	a->s->kinds[row->kind].missing++;
	return add_place(a->s, a->one, row->trace[0].ip, false);
}

/*
 * Count entry @i, and the branches missing behind it. Runs for each entry of a recording, and most
 * entries are exact.
 */
static bool add_entry(struct adding *a, size_t i)
{
	struct ptc_compare_sum *s = a->s;
	const struct ptc_compare_entry *e = ptc_compare_entry(a->one, i);
	const enum ptc_verdict v = (enum ptc_verdict)e->verdict;
	const size_t depth = i < PTC_SUM_DEPTHS ? i : PTC_SUM_DEPTHS - 1;
	const uint8_t kind = e->step ? e->step->kind : 0;

	s->verdicts[v]++;
	s->depths[depth][v]++;
	s->gaps[e->cause] += v == PTC_VERDICT_GAP;
	count_verdict(&s->all, v);
	count_verdict(&s->kinds[kind], v);
	s->leaks[kind] += v == PTC_VERDICT_CLASS;
	s->wrong_oldest += is_wrong(v) && i + 1 == a->one->n;
	if (is_wrong(v) && !add_place(s, a->one, e->branch->from, true))
		return false;
	return !e->missing || ptc_side_missing(a->one, i, add_missing, a);
}

static void add_shift(struct ptc_compare_sum *s, const struct ptc_compare_sample *one)
{
	const uint32_t last = PTC_SUM_SHIFTS - 1, shift = one->shift < last ? one->shift : last;
	const uint32_t may = one->shifts ? one->shifts : UINT32_C(1) << shift;
	uint32_t k;

	if (!one->fits)
		return;
	s->located++;
	s->shifts[shift]++;
	s->known += one->shifts != 0;
	s->shifted += !(may & 1);
	for (k = 0; k < PTC_SUM_SHIFTS; k++) {
		s->may[k] += !(may & 1) && (may >> k & 1);
		s->any_may[k] += one->shifts >> k & 1;
	}
}

static void add_candidates(struct ptc_compare_sum *s, size_t n)
{
	if (n)
		s->candidates[n < 2 ? 0 : n < 10 ? 1 : n < 100 ? 2 : 3]++;
}

static void add_tail(struct ptc_compare_sum *s, const struct ptc_compare_sample *one)
{
	size_t i;

	for (i = one->n; i && verdict(one, i - 1) == PTC_VERDICT_ABSENT; i--)
		s->absent_tail++;
}

/* Keep the sample if it is worse than one of the worst. Of equal ones the first is kept. */
static bool add_worst(struct ptc_compare_sum *s, const struct ptc_compare_sample *one,
		      uint64_t wrong)
{
	size_t at = s->nworst;
	struct ptc_side w;

	while (at && s->worst[at - 1].wrong < wrong)
		at--;
	if (at == PTC_SUM_WORST)
		return true;
	if (!ptc_side_init(&w, one, wrong, s->names))
		return false;
	if (s->nworst == PTC_SUM_WORST)
		ptc_side_release(&s->worst[--s->nworst]);
	memmove(&s->worst[at + 1], &s->worst[at], (s->nworst - at) * sizeof(w));
	s->worst[at] = w;
	s->nworst++;
	return true;
}

bool ptc_compare_sum_add(struct ptc_compare_sum *s, const struct ptc_compare_sample *one)
{
	const struct ptc_sum_count before = s->all;
	struct adding adding = { s, one };
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
		if (!add_entry(&adding, i))
			return false;
	add_shift(s, one);
	add_tail(s, one);
	add_candidates(s, one->candidates);
	s->limited += one->limited;
	wrong = s->all.wrong - before.wrong + s->all.missing - before.missing;
	s->wrong_samples += wrong != 0;
	s->exact_samples += !wrong && s->all.judged - before.judged == one->n;
	cpu = cpu_of(s, one->where.cpu);
	if (!cpu)
		return false;
	cpu->count.judged += s->all.judged - before.judged;
	cpu->count.wrong += s->all.wrong - before.wrong;
	cpu->count.missing += s->all.missing - before.missing;
	return !wrong || add_worst(s, one, wrong);
}

/* Is @part nearly all of @whole, and not 0? */
static bool is_most(uint64_t part, uint64_t whole)
{
	return part && part >= whole - whole / 10;
}

/*
 * In a loop, a shifted stack looks like one without a shift. So a shift is constant if it is
 * possible for nearly all samples, and for more samples than shift 0. It is also constant if enough
 * samples allow this shift and do not allow shift 0.
 */
static bool is_constant(const struct ptc_compare_sum *s, uint32_t k)
{
	return s->may[k] >= s->located / 5 ||
	       (s->known && s->any_may[k] >= s->known - s->known / 100 &&
		s->any_may[k] > s->any_may[0]);
}

static void look_for_shift(struct ptc_compare_sum *s)
{
	uint32_t k, best = 1;

	for (k = 2; k + 1 < PTC_SUM_SHIFTS; k++)
		if (s->may[k] > s->may[best] ||
		    (s->may[k] == s->may[best] && s->any_may[k] > s->any_may[best]))
			best = k;
	if (s->may[best] <= s->shifted / 2)
		return;
	s->patterns |= 1u << (is_constant(s, best) ? PTC_PATTERN_SHIFT : PTC_PATTERN_SHIFTED);
	s->shift = best;
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

/* Find a CPU with most of the errors that does not have most of the entries. */
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

static int by_function(const void *a, const void *b)
{
	const struct ptc_sum_function *x = a, *y = b;

	if (!x->name || !y->name)
		return !x->name - !y->name;
	return strcmp(x->name, y->name);
}

static int by_errors_of_function(const void *a, const void *b)
{
	const struct ptc_sum_function *x = a, *y = b;
	const uint64_t xs = x->wrong + x->missing, ys = y->wrong + y->missing;

	if (xs != ys)
		return xs > ys ? -1 : 1;
	return by_function(a, b);
}

static bool add_up_functions(struct ptc_compare_sum *s)
{
	struct ptc_sum_function *f = calloc(s->nplaces, sizeof(*f));
	size_t i, n = 0;

	if (!f)
		return false;
	for (i = 0; i < s->nplaces; i++)
		f[i] = (struct ptc_sum_function){ .name = s->places[i].place.function,
						  .wrong = s->places[i].wrong,
						  .missing = s->places[i].missing };
	qsort(f, s->nplaces, sizeof(*f), by_function);
	for (i = 1; i < s->nplaces; i++) {
		if (by_function(&f[n], &f[i])) {
			f[++n] = f[i];
			continue;
		}
		f[n].wrong += f[i].wrong;
		f[n].missing += f[i].missing;
	}
	s->functions = f;
	s->nfunctions = n + 1;
	qsort(f, s->nfunctions, sizeof(*f), by_errors_of_function);
	return true;
}

bool ptc_compare_sum_finish(struct ptc_compare_sum *s)
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
	if (!s->nplaces)
		return true;
	qsort(s->places, s->nplaces, sizeof(*s->places), by_errors);
	return add_up_functions(s);
}
