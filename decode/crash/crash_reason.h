/* SPDX-License-Identifier: MIT */
/* Finds why a signal came: from the kernel's siginfo, the instruction and the mappings. */
#ifndef PTC_DECODE_CRASH_CRASH_REASON_H
#define PTC_DECODE_CRASH_CRASH_REASON_H

#include "arch/operand.h"
#include "decode/crash/crash_state.h"
#include "ptcap/crash_reason.h"

/*
 * Find why the signal came. @ops: operands of the instruction at the victim's ip. NULL: there is no
 * instruction, or it is not available.
 */
struct ptc_crash_why ptc_reason_find(const struct ptc_crash_state *d,
				     const struct ptc_crash_thread *t,
				     const struct ptc_operands *ops);

#endif
