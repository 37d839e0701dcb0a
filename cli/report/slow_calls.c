/* SPDX-License-Identifier: MIT */
#include "cli/report/slow_calls.h"

#include <stdlib.h>

#include "base/grow.h"

/* The slowest first, and the earliest of equally slow ones. */
static int by_duration(const void *a, const void *b)
{
	const struct ptc_slow_call *x = a, *y = b;
	unsigned int i;

	if (x->took != y->took)
		return x->took > y->took ? -1 : 1;
	for (i = 0; i < 2; i++)
		if (x->at[i] != y->at[i])
			return x->at[i] < y->at[i] ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

bool ptc_slow_calls_want(const struct ptc_slow_calls *s, const struct ptc_slow_call *call)
{
	return s->n < s->max || (s->n && by_duration(call, &s->v[0]) < 0);
}

/* Move the call at @i down to its place. */
static void sift_down(struct ptc_slow_calls *s, size_t i)
{
	const struct ptc_slow_call call = s->v[i];
	size_t child;

	while ((child = 2 * i + 1) < s->n) {
		if (child + 1 < s->n && by_duration(&s->v[child + 1], &s->v[child]) > 0)
			child++;
		if (by_duration(&s->v[child], &call) <= 0)
			break;
		s->v[i] = s->v[child];
		i = child;
	}
	s->v[i] = call;
}

bool ptc_slow_calls_add(struct ptc_slow_calls *s, const struct ptc_slow_call *call)
{
	size_t i, parent;

	if (s->n == s->max) {
		s->v[0] = *call;
		sift_down(s, 0);
		return true;
	}
	if (!ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return false;
	for (i = s->n++; i; i = parent) {
		parent = (i - 1) / 2;
		if (by_duration(&s->v[parent], call) >= 0)
			break;
		s->v[i] = s->v[parent];
	}
	s->v[i] = *call;
	return true;
}

void ptc_slow_calls_sort(struct ptc_slow_calls *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_duration);
}

void ptc_slow_calls_release(struct ptc_slow_calls *s)
{
	free(s->v);
	*s = (struct ptc_slow_calls){ .max = s->max };
}
