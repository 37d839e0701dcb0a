/* SPDX-License-Identifier: MIT */
/* The names of verdicts. */
#include "ptcap/compare.h"
#include "ptcap/compare_runs.h"

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

const char *ptc_runs_verdict_name(enum ptc_runs_verdict v)
{
	static const char *const names[PTC_RUNS_VERDICTS] = {
		[PTC_RUNS_SEEN] = "in the trace",
		[PTC_RUNS_POSSIBLE] = "possible",
		[PTC_RUNS_TARGET] = "wrong target",
		[PTC_RUNS_SOURCE] = "no branch at the source",
		[PTC_RUNS_TYPE] = "wrong type",
		[PTC_RUNS_LINK] = "not connected",
		[PTC_RUNS_UNTRACED] = "untraced privilege",
		[PTC_RUNS_NO_FILE] = "code of no common file",
		[PTC_RUNS_NO_CODE] = "unknown code",
		[PTC_RUNS_KERNEL] = "kernel in between",
	};

	return v < PTC_RUNS_VERDICTS ? names[v] : "?";
}

const char *ptc_runs_stack_name(enum ptc_runs_stack s)
{
	static const char *const names[PTC_RUNS_STACKS] = {
		[PTC_RUNS_STACK_EXACT] = "exact",	    [PTC_RUNS_STACK_POSSIBLE] = "possible",
		[PTC_RUNS_STACK_IMPOSSIBLE] = "impossible", [PTC_RUNS_STACK_UNKNOWN] = "unknown",
		[PTC_RUNS_STACK_SKIPPED] = "skipped",
	};

	return s < PTC_RUNS_STACKS ? names[s] : "?";
}
