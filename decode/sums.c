/* SPDX-License-Identifier: MIT */
#include "decode/sums.h"

#include <string.h>

enum { SIDE_BY_SIDE = 4, SLOTS = 256 };

void ptc_sums_count(uint64_t kinds[PTC_KIND_COUNT], const struct ptc_fast_rec *recs, size_t n)
{
	/* Most are of one kind: a count that was just written is slow to read. */
	uint64_t counts[SIDE_BY_SIDE][SLOTS] = { { 0 } };
	size_t i, k;

	for (i = 0; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
		for (k = 0; k < SIDE_BY_SIDE; k++)
			counts[k][recs[i + k].from_kind & 0xff]++;
	for (; i < n; i++)
		counts[0][recs[i].from_kind & 0xff]++;
	for (i = 0; i < PTC_KIND_COUNT; i++)
		kinds[i] = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
}
