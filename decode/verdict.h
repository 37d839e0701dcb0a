/* SPDX-License-Identifier: MIT */
/* What is said of an entry of a branch stack. */
#ifndef PTC_DECODE_VERDICT_H
#define PTC_DECODE_VERDICT_H

#include <stdbool.h>

enum ptc_verdict {
	PTC_VERDICT_EXACT,
	PTC_VERDICT_TARGET,	/* the trace has that branch leading elsewhere */
	PTC_VERDICT_SOURCE,	/* the trace comes there from elsewhere */
	PTC_VERDICT_ORDER,	/* it and its neighbour are the wrong way round */
	PTC_VERDICT_DUPLICATED, /* the same as the older one beside it; the trace has it once less
				 */
	PTC_VERDICT_CLASS,	/* it is in the trace, but the filter excludes it */
	PTC_VERDICT_TYPE,	/* its ends are right, the type is not */
	PTC_VERDICT_FLAG,	/* they are, and a flag that it should have is not there */
	PTC_VERDICT_ABSENT,	/* it is not in the trace there */
	/* Not judged: */
	PTC_VERDICT_BEFORE,    /* the trace had not begun */
	PTC_VERDICT_GAP,       /* the trace has a gap there */
	PTC_VERDICT_UNTRACED,  /* an end of it is in the kernel, which was not traced */
	PTC_VERDICT_AMBIGUOUS, /* ways to read it that are equally cheap differ about it */
	PTC_VERDICT_UNPLACED,  /* the whole stack is nowhere to be found */
	PTC_VERDICT_COUNT
};

/* "exact", "wrong target", ... */
const char *ptc_verdict_name(enum ptc_verdict v);

static inline bool ptc_verdict_is_judged(enum ptc_verdict v)
{
	return v < PTC_VERDICT_BEFORE;
}

#endif
