/* SPDX-License-Identifier: MIT */
#include "cli/calls/call_axis.h"

#include <stdlib.h>

#include "base/grow.h"

enum { FIRST = 1 }; /* 0 means "not known" for some tools */

void ptc_call_axis_init(struct ptc_call_axis *x, const struct ptc_decode *d, bool by_insns)
{
	uint64_t first, last;
	struct ptc_err err;

	if (by_insns || ptc_decode_get_times(d, &first, &last, &err) < 0 || !first)
		first = FIRST;
	*x = (struct ptc_call_axis){ .by_insns = by_insns, .latest = first };
}

void ptc_call_axis_release(struct ptc_call_axis *x)
{
	free(x->threads);
	x->threads = NULL;
	x->n = x->cap = 0;
}

/* Begins all threads up to number @thread. Returns false if out of memory. */
static bool begin_threads(struct ptc_call_axis *x, uint32_t thread, uint64_t insns)
{
	if (thread < x->n)
		return true;
	if (!ptc_grow(&x->threads, &x->cap, (size_t)thread + 1, sizeof(*x->threads)))
		return false;
	for (; x->n <= thread; x->n++) {
		x->threads[x->n].zero = x->latest - insns;
		x->threads[x->n].last = x->latest;
	}
	return true;
}

bool ptc_call_axis_place(struct ptc_call_axis *x, const struct ptc_call_event *event,
			 uint64_t *ret_ns)
{
	const struct ptc_call *call = event->call;
	uint64_t at, *last;

	if (!begin_threads(x, event->thread, call->insns))
		return false;
	last = &x->threads[event->thread].last;
	at = x->by_insns ? x->threads[event->thread].zero + call->insns : call->item->time;
	if (at == PTC_NO_TIME || at < *last)
		at = *last;
	*last = at;
	if (at > x->latest)
		x->latest = at;
	*ret_ns = at;
	return true;
}
