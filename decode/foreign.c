/* SPDX-License-Identifier: MIT */
#include "decode/foreign.h"

#include <string.h>

#include "decode/wants.h"

enum {
	LOOK = 4096, /* steps of each other thread, the last ones */
	CLOSE = 6,   /* readings whose costs differ by less than three mistakes */
};

/* May the thread lose its CPU behind step @i? */
static bool may_stop(const struct ptc_recent_thread *t, size_t i)
{
	const struct ptc_step *next = &t->steps[i + 1];

	return i + 1 == t->n || next->flags & PTC_STEP_GAP || !next->to ||
	       ptc_is_kernel_ip(next->to);
}

static bool is_entry(const struct ptc_branch *e, const struct ptc_step *s)
{
	return e->from == s->from && e->to == s->to;
}

/* Are @e[0..n), the newest first, what @t took last in front of step @end + 1? */
static bool is_run(const struct ptc_recent_thread *t, size_t end, const struct ptc_wants *w,
		   const struct ptc_branch *e, size_t n)
{
	size_t i = end + 1;

	while (n && i) {
		const struct ptc_step *s = &t->steps[--i];

		if (s->flags & PTC_STEP_GAP)
			return false;
		if (!ptc_wants_step(w, s))
			continue;
		if (!is_entry(e, s))
			return false;
		e++;
		n--;
	}
	return !n;
}

static bool look_at(const struct ptc_recent_thread *t, const struct ptc_wants *w,
		    const struct ptc_align_in *in, bool foreign[])
{
	const size_t first = t->n > LOOK ? t->n - LOOK : 0;
	bool stops = false, any = false;
	size_t i, k;

	for (i = t->n; i-- > first;) {
		const struct ptc_step *s = &t->steps[i];

		stops |= may_stop(t, i);
		if (s->flags & PTC_STEP_GAP || !ptc_wants_step(w, s))
			continue;
		for (k = 1; k < in->n && stops; k++)
			if (!foreign[k] && is_run(t, i, w, &in->entries[in->n - k], k))
				any = foreign[k] = true;
		stops = false;
	}
	return any;
}

/* What the two readings do not agree about nobody can tell. */
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

int ptc_foreign_run(struct ptc_align *a, const struct ptc_recent *r,
		    const struct ptc_recent_thread *own, const struct ptc_align_in *in,
		    const struct perf_event_attr *attr, struct ptc_align_entry *ret_entries,
		    struct ptc_align_result *ret)
{
	const struct ptc_wants w = ptc_wants_of(attr);
	struct ptc_align_entry alone[PTC_ALIGN_ENTRIES];
	bool foreign[PTC_ALIGN_ENTRIES + 1] = { false }, any = false;
	struct ptc_align_in both = *in;
	uint32_t cost;
	size_t i;
	int rc = ptc_align_run(a, in, ret_entries, ret);

	if (rc || !ret->cost)
		return rc;
	for (i = 0; i < r->n; i++)
		if (&r->threads[i] != own)
			any |= look_at(&r->threads[i], &w, in, foreign);
	if (!any)
		return 0;
	cost = ret->cost;
	memcpy(alone, ret_entries, in->n * sizeof(*alone));
	both.foreign = foreign;
	rc = ptc_align_run(a, &both, ret_entries, ret);
	if (!rc && ret->cost < cost && cost - ret->cost <= CLOSE)
		merge(in, alone, ret_entries);
	return rc;
}
