/* SPDX-License-Identifier: MIT */
#include "base/tid_counter.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

void ptc_tid_counter_release(struct ptc_tid_counter *t)
{
	free(t->entries);
	*t = (struct ptc_tid_counter){ NULL, 0, 0, 0 };
}

uint64_t *ptc_tid_counter_of(struct ptc_tid_counter *t, int32_t tid)
{
	size_t at;

	if (t->newest < t->n && t->entries[t->newest].tid == tid)
		return &t->entries[t->newest].n;
	at = PTC_PARTITION_POINT(i, 0, t->n, t->entries[i].tid < tid);
	if (at == t->n || t->entries[at].tid != tid) {
		if (!ptc_grow(&t->entries, &t->cap, t->n + 1, sizeof(*t->entries)))
			return NULL;
		memmove(t->entries + at + 1, t->entries + at, (t->n - at) * sizeof(*t->entries));
		t->entries[at] = (struct ptc_tid_counter_entry){ tid, 0 };
		t->n++;
	}
	t->newest = at;
	return &t->entries[at].n;
}
