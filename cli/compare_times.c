/* SPDX-License-Identifier: MIT */
#include "compare_times.h"

#include "decode/exact.h"
#include "decode/wants.h"

/* A spoilt stack may be exact elsewhere, too: one says nothing, and of a few all have to be. */
enum { LEAST = 2, FEW = 8 };

static bool is_doubtful(const struct ptc_compare_sample *s)
{
	size_t i;

	if (s->skip != PTC_COMPARE_JUDGED)
		return s->skip == PTC_COMPARE_NO_THREAD;
	for (i = 0; i < s->n; i++) {
		const enum ptc_verdict v = (enum ptc_verdict)s->verdicts[i].verdict;

		if ((ptc_verdict_is_judged(v) && v != PTC_VERDICT_EXACT) ||
		    v == PTC_VERDICT_UNPLACED || s->verdicts[i].missing)
			return true;
	}
	return false;
}

static bool is_exact(const struct ptc_compare_sample *s)
{
	size_t i;

	if (s->skip != PTC_COMPARE_JUDGED || !s->n)
		return false;
	for (i = 0; i < s->n; i++)
		if (s->verdicts[i].verdict != PTC_VERDICT_EXACT || s->verdicts[i].missing)
			return false;
	return true;
}

static void note_first(struct ptc_doubts *d, const struct ptc_compare_sample *s)
{
	size_t i;

	d->attr = s->attr->attr;
	d->ip = s->sample->ip;
	d->tid = s->where.tid;
	d->nentries = s->skip == PTC_COMPARE_JUDGED ? s->n : 0;
	for (i = 0; i < d->nentries; i++)
		d->oldest[i] = s->entries[s->n - 1 - i];
}

void ptc_doubts_add(struct ptc_doubts *d, uint64_t first, const struct ptc_compare_sample *s)
{
	if (d->n < PTC_TIMES_DOUBTS && is_doubtful(s)) {
		if (!d->n)
			note_first(d, s);
		d->numbers[d->n++] = first + d->seen;
	}
	d->seen++;
}

struct checking {
	const struct ptc_doubts *d;
	uint64_t number; /* of the next sample */
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

/* How many of them are exact if times may be wrong. */
static int count_exact(const struct ptc_doubts *d, const char *input, size_t *ret,
		       struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_compare_opts compare = { .slack_ns = PTC_TIMES_SLACK_NS,
					    .on_sample = on_sample };
	struct checking c = { .d = d };
	struct ptc_compare_total total;
	int rc;

	opts.untraced = true;
	c.number = compare.first = d->numbers[0];
	compare.last = d->numbers[d->n - 1];
	compare.ctx = &c;
	rc = ptc_decode_open(input, &opts, &compare.d, err);
	if (rc)
		return rc;
	rc = ptc_compare_run(&compare, &total, err);
	ptc_decode_free(compare.d);
	*ret = rc ? 0 : c.exact;
	return rc;
}

int ptc_doubts_check(const struct ptc_doubts *d, const char *input, bool *ret_off,
		     struct ptc_err *err)
{
	size_t exact = 0;
	int rc = d->n < LEAST ? 0 : count_exact(d, input, &exact, err);

	*ret_off = exact > (d->n < FEW ? d->n - 1 : d->n / 2) && d->n >= LEAST;
	return rc;
}

struct seeking {
	const struct ptc_doubts *d;
	struct ptc_wants wants;
	struct ptc_exact exact;
	bool ends, found; /* it may end at the last wanted step, and the ip was not seen yet */
	uint64_t to;	  /* of the last step */
};

/* Of the thread, the next one. */
static void seek_step(struct seeking *k, const struct ptc_step *s)
{
	k->found |= k->ends && k->to <= k->d->ip && k->d->ip <= s->from;
	if (ptc_wants_step(&k->wants, s))
		k->ends = ptc_exact_feed(&k->exact, s, 0);
	k->to = s->to ? s->to : UINT64_MAX;
}

static int seek_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct seeking *k = ctx;
	size_t i;

	for (i = 0; i < n && !k->found; i++) {
		const struct ptc_item *it = &items[i];
		const struct ptc_step s = { it->from, it->to, it->time, it->kind, 0 };

		if (it->type == PTC_ITEM_GAP) {
			ptc_exact_cut(&k->exact);
			k->ends = false;
		} else if (it->type == PTC_ITEM_BRANCH && it->tid == k->d->tid) {
			seek_step(k, &s);
		}
	}
	return k->found;
}

static int seek_all(const struct ptc_doubts *d, const char *input, bool *ret_found,
		    struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct seeking k = { .d = d, .wants = ptc_wants_of(&d->attr) };
	const struct ptc_sink sink = { .on_items = seek_items, .ctx = &k };
	struct ptc_decode *decode;
	int rc;

	ptc_exact_init(&k.exact, d->oldest, d->nentries);
	opts.untraced = true;
	rc = ptc_decode_open(input, &opts, &decode, err);
	if (rc)
		return rc;
	rc = ptc_decode_run(decode, &sink, err);
	ptc_decode_free(decode);
	k.found |= k.ends && k.to <= d->ip; /* nothing follows */
	*ret_found = k.found;
	return k.found ? 0 : rc;
}

int ptc_doubts_seek(const struct ptc_doubts *d, const char *input, bool *ret_found,
		    struct ptc_err *err)
{
	const bool calls = d->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	size_t exact = 0;
	int rc;

	*ret_found = false;
	if (d->n != 1 || !d->nentries)
		return 0;
	if (!calls)
		return seek_all(d, input, ret_found, err);
	rc = count_exact(d, input, &exact, err);
	*ret_found = exact;
	return rc;
}
