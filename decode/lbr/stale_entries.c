/* SPDX-License-Identifier: MIT */
#include "decode/lbr/stale_entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "decode/lbr/branch_filter.h"
#include "decode/lbr/kmp.h"
#include "ptcap/error.h"

enum {
	CLOSE = 6, /* cost difference of close readings: less than three mistakes */
	LOOK_MAX = 2 * PTC_STALE_LOOK,
};

void ptc_stale_release(struct ptc_stale *f)
{
	free(f->turns);
	*f = (struct ptc_stale){ .turns = NULL };
}

struct looking {
	struct ptc_wants wants;
	/* entries of the stack without the newest one; oldest first */
	struct ptc_branch oldest[PTC_ALIGN_ENTRIES];
	size_t n;
	/* fed from the oldest to the newest step: its state is the length of a run */
	struct ptc_kmp exact;
	bool *foreign;
	bool any;
	size_t work; /* steps looked at */
};

static void look_for(struct looking *l, const struct ptc_align_in *in)
{
	size_t i;

	l->n = in->n - 1;
	for (i = 0; i < l->n; i++)
		l->oldest[i] = in->entries[in->n - 1 - i];
	ptc_kmp_init(&l->exact, l->oldest, l->n);
}

static bool is_gap(const struct ptc_step *s)
{
	return s->flags & PTC_STEP_GAP;
}

/*
 * Returns the first step that a run up to step @end can have. It is not in front of @fed, because
 * runs up to there are known.
 */
static size_t first_of_run(struct looking *l, const struct ptc_thread_history_thread *t, size_t end,
			   size_t fed)
{
	const size_t least = end + 1 > fed + PTC_STALE_LOOK ? end + 1 - PTC_STALE_LOOK : fed;
	size_t i = end + 1, left = l->n;

	while (i > least && left && !is_gap(&t->steps[i - 1]))
		left -= ptc_wants_step(&l->wants, &t->steps[--i]);
	l->work += end + 1 - i;
	return i;
}

/* Find how many of the oldest entries equal the last branches of @t up to step @end. */
static void look_behind(struct looking *l, const struct ptc_thread_history_thread *t, size_t end,
			size_t *fed)
{
	size_t i = first_of_run(l, t, end, *fed), k;

	if (i != *fed)
		ptc_kmp_cut(&l->exact);
	for (; i <= end; i++) {
		const struct ptc_step *s = &t->steps[i];

		if (ptc_wants_step(&l->wants, s) && ptc_kmp_cares(&l->exact, s))
			(void)ptc_kmp_feed(&l->exact, s, i);
	}
	*fed = end + 1;
	for (k = l->exact.state; k && !l->foreign[k]; k = l->exact.back[k])
		l->foreign[k] = l->any = true;
}

/* Move *@end back to a step that is a branch. Returns false if there is none from @first on. */
static bool find_transfer(const struct ptc_thread_history_thread *t, size_t first, size_t *end)
{
	while (*end > first && is_gap(&t->steps[*end]))
		--*end;
	return !is_gap(&t->steps[*end]);
}

static bool search_steps_of_thread(struct looking *l, struct ptc_thread_history_thread *t)
{
	const size_t first = t->n > PTC_STALE_LOOK ? t->n - PTC_STALE_LOOK : 0;
	size_t fed = 0, i, end;

	if (!ptc_thread_history_stops(t, first))
		return false;
	ptc_kmp_cut(&l->exact);
	for (i = 0; i <= t->nstops; i++) {
		end = i < t->nstops ? (size_t)(t->stops[i] - t->dropped) : t->n - 1;
		if (find_transfer(t, first, &end) && end + 1 > fed)
			look_behind(l, t, end, &fed);
	}
	l->work++;
	return true;
}

static int by_order(const void *a, const void *b)
{
	const struct ptc_stale_turn *x = a, *y = b;

	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	return x->thread < y->thread ? -1 : 1;
}

/*
 * List all threads but @own. If there are too many steps, threads that ran last come first. Returns
 * false if out of memory.
 */
static bool list_turns(struct ptc_stale *f, const struct ptc_thread_history *r,
		       const struct ptc_thread_history_thread *own, size_t work, size_t *ret_n)
{
	size_t i, n = 0, most = 0;

	if (!ptc_grow(&f->turns, &f->cap, r->n + 1, sizeof(*f->turns)))
		return false;
	for (i = 0; i < r->n; i++) {
		const struct ptc_thread_history_thread *t = &r->threads[i];

		if (t == own || !t->n)
			continue;
		most += t->n < LOOK_MAX ? t->n : LOOK_MAX;
		f->turns[n++] = (struct ptc_stale_turn){ t->steps[t->n - 1].time + 1, i };
	}
	if (most > work)
		qsort(f->turns, n, sizeof(*f->turns), by_order);
	*ret_n = n;
	return true;
}

static int search_other_threads(struct ptc_stale *f, struct ptc_thread_history *r,
				const struct ptc_thread_history_thread *own, struct looking *l,
				struct ptc_align_result *ret)
{
	const size_t work = f->work ? f->work : PTC_STALE_WORK;
	size_t i, n;

	if (!list_turns(f, r, own, work, &n))
		return PTC_E_NO_MEMORY;
	for (i = 0; i < n && l->work < work; i++)
		if (!search_steps_of_thread(l, &r->threads[f->turns[i].thread]))
			return PTC_E_NO_MEMORY;
	ret->limited = i < n;
	return 0;
}

/* Entries about which the two readings differ are ambiguous. */
static void merge(const struct ptc_align_in *in, const struct ptc_align_entry own[],
		  struct ptc_align_entry ret[])
{
	bool differ = false;
	size_t i;

	for (i = 0; i < in->n; i++)
		if (ret[i].verdict != own[i].verdict) {
			ret[i] = (struct ptc_align_entry){ .verdict = PTC_VERDICT_AMBIGUOUS,
							   .step = PTC_ALIGN_NONE };
			differ = true;
		}
	for (i = 0; i < in->n && differ; i++)
		ret[i].missing = 0;
}

/* Align again, with the entries that may be left over. */
static int align_again(struct ptc_align *a, const struct ptc_align_in *in, const bool *foreign,
		       struct ptc_align_entry *ret_entries, struct ptc_align_result *ret)
{
	const struct ptc_align_result before = *ret;
	struct ptc_align_entry alone[PTC_ALIGN_ENTRIES];
	struct ptc_align_in both = *in;
	int rc;

	both.foreign = foreign;
	memcpy(alone, ret_entries, in->n * sizeof(*alone));
	rc = ptc_align_run(a, &both, ret_entries, ret);
	ret->limited = before.limited;
	if (!rc && ret->cost < before.cost && before.cost - ret->cost <= CLOSE)
		merge(in, alone, ret_entries);
	return rc;
}

int ptc_stale_run(struct ptc_stale *f, struct ptc_align *a, struct ptc_thread_history *r,
		  const struct ptc_thread_history_thread *own, const struct ptc_align_in *in,
		  const struct perf_event_attr *attr, struct ptc_align_entry *ret_entries,
		  struct ptc_align_result *ret)
{
	bool foreign[PTC_ALIGN_ENTRIES + 1] = { false };
	struct looking l;
	int rc = ptc_align_run(a, in, ret_entries, ret);

	if (rc || !ret->cost || in->n < 2)
		return rc;
	l.wants = ptc_wants_of(attr);
	l.foreign = foreign;
	l.any = false;
	l.work = 0;
	look_for(&l, in);
	rc = search_other_threads(f, r, own, &l, ret);
	return rc || !l.any ? rc : align_again(a, in, foreign, ret_entries, ret);
}
