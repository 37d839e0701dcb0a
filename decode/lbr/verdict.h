/* SPDX-License-Identifier: MIT */
/* The verdict on an entry of a branch stack. */
#ifndef PTC_DECODE_LBR_VERDICT_H
#define PTC_DECODE_LBR_VERDICT_H

#include <stdbool.h>

enum ptc_verdict {
	PTC_VERDICT_EXACT,
	PTC_VERDICT_TARGET,	/* the trace has this source with another target */
	PTC_VERDICT_SOURCE,	/* the trace has this target with another source */
	PTC_VERDICT_ORDER,	/* it and its neighbour are swapped */
	PTC_VERDICT_DUPLICATED, /* equal to the older entry beside it; the trace has one less */
	PTC_VERDICT_CLASS,	/* in the trace, but excluded by the filter */
	PTC_VERDICT_TYPE,	/* source and target are right, the type is not */
	PTC_VERDICT_FLAG,	/* both are right, but an expected flag is missing */
	PTC_VERDICT_ABSENT,	/* not in the trace at this place */
	/* Not judged: */
	PTC_VERDICT_BEFORE,    /* before the begin of the trace */
	PTC_VERDICT_GAP,       /* in a gap of the trace */
	PTC_VERDICT_UNTRACED,  /* one end is in the kernel, which was not traced */
	PTC_VERDICT_AMBIGUOUS, /* equally good alignments differ about it */
	PTC_VERDICT_UNPLACED,  /* the whole stack matches nowhere */
	PTC_VERDICT_COUNT
};

/* "exact", "wrong target", ... */
const char *ptc_verdict_name(enum ptc_verdict v);

static inline bool ptc_verdict_is_judged(enum ptc_verdict v)
{
	return v < PTC_VERDICT_BEFORE;
}

#endif
