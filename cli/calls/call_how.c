/* SPDX-License-Identifier: MIT */
#include "cli/calls/call_how.h"

const char *ptc_call_how_name(enum ptc_call_how how)
{
	static const char *const names[] = {
		[PTC_CALL_BY_CALL] = "call",	    [PTC_CALL_BY_TRACE] = "trace",
		[PTC_CALL_BY_RETURN] = "return",    [PTC_CALL_BY_TAIL] = "tail",
		[PTC_CALL_BY_SIGNAL] = "signal",    [PTC_CALL_BY_UNWINDING] = "unwinding",
		[PTC_CALL_BY_INLINING] = "inlined", [PTC_CALL_BY_GAP] = "gap",
		[PTC_CALL_BY_END] = "end",
	};

	return names[how];
}
