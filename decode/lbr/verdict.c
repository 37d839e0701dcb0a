/* SPDX-License-Identifier: MIT */
#include "decode/lbr/verdict.h"

const char *ptc_verdict_name(enum ptc_verdict v)
{
	static const char *const names[PTC_VERDICT_COUNT] = {
		[PTC_VERDICT_EXACT] = "exact",
		[PTC_VERDICT_TARGET] = "wrong target",
		[PTC_VERDICT_SOURCE] = "wrong source",
		[PTC_VERDICT_ORDER] = "wrong order",
		[PTC_VERDICT_DUPLICATED] = "duplicated",
		[PTC_VERDICT_CLASS] = "filtered class",
		[PTC_VERDICT_TYPE] = "wrong type",
		[PTC_VERDICT_FLAG] = "lost flag",
		[PTC_VERDICT_ABSENT] = "not in the trace",
		[PTC_VERDICT_BEFORE] = "before the trace",
		[PTC_VERDICT_GAP] = "in a gap",
		[PTC_VERDICT_UNTRACED] = "untraced privilege",
		[PTC_VERDICT_AMBIGUOUS] = "ambiguous",
		[PTC_VERDICT_UNPLACED] = "no place found",
	};

	return v < PTC_VERDICT_COUNT ? names[v] : "?";
}
