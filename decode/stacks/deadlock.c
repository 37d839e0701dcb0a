/* SPDX-License-Identifier: MIT */
#include "decode/stacks/deadlock.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"

/* Adds the circle that begins at thread @at. All its threads have the mark @at + 1. */
static void add_circle(struct ptc_deadlocks *d, const size_t *waits_for, size_t at)
{
	size_t end = d->begins[d->n], i = at;

	do {
		d->threads[end++] = i;
		i = waits_for[i];
	} while (i != at);
	d->begins[++d->n] = end;
}

/* Returns the lowest number in the circle of thread @at. */
static size_t lowest(const size_t *waits_for, size_t at)
{
	size_t i = waits_for[at], low = at;

	for (; i != at; i = waits_for[i])
		low = i < low ? i : low;
	return low;
}

int ptc_deadlocks_find(const size_t *waits_for, size_t n, struct ptc_deadlocks *ret,
		       struct ptc_err *err)
{
	size_t *marks = calloc(n + 1, sizeof(*marks)); /* 0, or 1 + where the walk began */
	size_t i, at;

	ret->threads = calloc(n + 1, sizeof(*ret->threads));
	ret->begins = calloc(n + 1, sizeof(*ret->begins));
	if (!marks || !ret->threads || !ret->begins) {
		free(marks);
		return ptc_fail_mem(err);
	}
	for (i = 0; i < n; i++) {
		for (at = i; at < n && !marks[at]; at = waits_for[at])
			marks[at] = i + 1;
		if (at < n && marks[at] == i + 1) /* the walk met itself */
			add_circle(ret, waits_for, lowest(waits_for, at));
	}
	free(marks);
	return 0;
}

void ptc_deadlocks_release(struct ptc_deadlocks *d)
{
	free(d->threads);
	free(d->begins);
	*d = (struct ptc_deadlocks){ .n = 0 };
}
