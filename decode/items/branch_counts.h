/* SPDX-License-Identifier: MIT */
/* Counts of branches, for users that need no list of branches (opts.sums). */
#ifndef PTC_DECODE_ITEMS_BRANCH_COUNTS_H
#define PTC_DECODE_ITEMS_BRANCH_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* Approximate number of branches per call of the sink. */
enum { PTC_SUMS_BATCH = 1 << 16 };

/* Returns empty sums. */
static inline struct ptc_sums ptc_sums_none(void)
{
	return (struct ptc_sums){ .first_ns = PTC_NO_TIME, .last_ns = PTC_NO_TIME };
}

static inline void ptc_sums_add_kinds(struct ptc_sums *s, const uint64_t kinds[PTC_KIND_COUNT],
				      uint64_t transfers)
{
	size_t i;

	for (i = 0; i < PTC_KIND_COUNT; i++)
		s->kinds[i] += kinds[i];
	s->transfers += transfers;
}

/* Extends the time range to @time. */
static inline void ptc_sums_add_time(struct ptc_sums *s, uint64_t time)
{
	if (time == PTC_NO_TIME)
		return;
	if (s->first_ns == PTC_NO_TIME || time < s->first_ns)
		s->first_ns = time;
	if (s->last_ns == PTC_NO_TIME || time > s->last_ns)
		s->last_ns = time;
}

#endif
