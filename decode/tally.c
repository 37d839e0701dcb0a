/* SPDX-License-Identifier: MIT */
#include "decode/tally.h"

#include <stdlib.h>
#include <string.h>

#include "decode/grow.h"

void ptc_tally_release(struct ptc_tally *t)
{
	free(t->entries);
	*t = (struct ptc_tally){ NULL, 0, 0, 0 };
}

uint64_t *ptc_tally_of(struct ptc_tally *t, int32_t tid)
{
	size_t lo = 0, hi = t->n;

	if (t->newest < t->n && t->entries[t->newest].tid == tid)
		return &t->entries[t->newest].n;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (t->entries[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == t->n || t->entries[lo].tid != tid) {
		if (!ptc_grow(&t->entries, &t->cap, t->n + 1, sizeof(*t->entries)))
			return NULL;
		memmove(t->entries + lo + 1, t->entries + lo, (t->n - lo) * sizeof(*t->entries));
		t->entries[lo] = (struct ptc_tally_entry){ tid, 0 };
		t->n++;
	}
	t->newest = lo;
	return &t->entries[lo].n;
}
