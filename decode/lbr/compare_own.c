/* SPDX-License-Identifier: MIT */
#include "decode/lbr/compare_own.h"

#include "decode/lbr/align.h"

const struct ptc_compare_entry *ptc_compare_entry(const struct ptc_compare_sample *s, size_t i)
{
	return s->skip == PTC_COMPARE_JUDGED && i < s->n ? &s->own->entries[i] : NULL;
}

const struct ptc_step *ptc_compare_missing(const struct ptc_compare_sample *s, size_t i,
					   const struct ptc_step *newer)
{
	const struct ptc_compare_entry *e = ptc_compare_entry(s, i);
	const struct ptc_step *at = newer;

	if (!at && e && e->missing)
		at = e->step;
	while (at && at != s->own->steps)
		if ((--at)->flags & PTC_STEP_WANTED)
			return at;
	return NULL;
}

const struct ptc_runs_entry *ptc_runs_entry(const struct ptc_runs_sample *s, size_t i)
{
	return s->stack != PTC_RUNS_STACK_SKIPPED && i < s->n ? &s->own->entries[i] : NULL;
}
