/* SPDX-License-Identifier: MIT */
#include "cli/compare/clock_check.h"

/*
 * A stack with injected errors may by chance be exact elsewhere. So a single sample is not enough,
 * and of up to FEW all must be exact.
 */
enum { LEAST = 2, FEW = 8 };

static bool is_doubtful(const struct ptc_compare_sample *s)
{
	size_t i;

	if (s->skip != PTC_COMPARE_JUDGED)
		return s->skip == PTC_COMPARE_NO_THREAD;
	for (i = 0; i < s->n; i++) {
		const struct ptc_compare_entry *e = ptc_compare_entry(s, i);
		const enum ptc_verdict v = (enum ptc_verdict)e->verdict;

		if ((ptc_verdict_is_judged(v) && v != PTC_VERDICT_EXACT) ||
		    v == PTC_VERDICT_UNPLACED || e->missing)
			return true;
	}
	return false;
}

static bool is_exact(const struct ptc_compare_sample *s)
{
	size_t i;

	if (s->skip != PTC_COMPARE_JUDGED || !s->n)
		return false;
	for (i = 0; i < s->n; i++) {
		const struct ptc_compare_entry *e = ptc_compare_entry(s, i);

		if (e->verdict != PTC_VERDICT_EXACT || e->missing)
			return false;
	}
	return true;
}

void ptc_doubts_add(struct ptc_doubts *d, uint64_t first, const struct ptc_compare_sample *s)
{
	if (d->n < PTC_TIMES_DOUBTS && is_doubtful(s))
		d->numbers[d->n++] = first + d->seen;
	d->seen++;
}

struct checking {
	const struct ptc_doubts *d;
	uint64_t number; /* number of the next sample */
	size_t next, exact;
};

static bool on_sample(void *ctx, const struct ptc_compare_sample *s)
{
	struct checking *c = ctx;

	if (c->next < c->d->n && c->d->numbers[c->next] == c->number++) {
		c->next++;
		c->exact += is_exact(s);
	}
	return true;
}

int ptc_doubts_check(const struct ptc_doubts *d, const char *input, bool *ret_off,
		     struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_compare_opts compare = PTC_COMPARE_OPTS_INIT;
	struct checking c = { .d = d };
	struct ptc_compare_total total = PTC_COMPARE_TOTAL_INIT;
	int rc;

	*ret_off = false;
	if (d->n < LEAST)
		return 0;
	opts.untraced = true;
	c.number = compare.first = d->numbers[0];
	compare.last = d->numbers[d->n - 1];
	compare.slack_ns = PTC_TIMES_SLACK_NS;
	compare.on_sample = on_sample;
	compare.ctx = &c;
	rc = ptc_decode_open(input, &opts, &compare.d, err);
	if (rc)
		return rc;
	rc = ptc_compare_run(&compare, &total, err);
	ptc_decode_free(compare.d);
	*ret_off = !rc && c.exact > (d->n < FEW ? d->n - 1 : d->n / 2);
	return rc;
}
