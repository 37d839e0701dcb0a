/* SPDX-License-Identifier: MIT */
/* Reads the state of a dead process from its core dump. */
#ifndef PTC_DECODE_CRASH_CORE_STATE_H
#define PTC_DECODE_CRASH_CORE_STATE_H

#include "decode/crash/crash_state.h"

struct ptc_core;

/*
 * Fill @d, which is zeroed, from @c. There are no thread names, and no time. Caller releases @d,
 * also on failure. PTC_E_FORMAT: the core has no threads or no process. PTC_E_NO_MEMORY.
 */
int ptc_crash_state_of_core(struct ptc_crash_state *d, const struct ptc_core *c,
			    struct ptc_err *err);

#endif
