/* SPDX-License-Identifier: MIT */
/*
 * Unwinds the stack of a dead thread from its memory, with the call frame information of its files.
 */
#ifndef PTC_DECODE_CRASH_CRASH_UNWIND_H
#define PTC_DECODE_CRASH_CRASH_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/crash/crash_state.h"
#include "decode/image/addrspace.h"
#include "ptcap/error.h"

enum { PTC_UNWIND_MAX = 4096 }; /* frames */

struct ptc_unwound_frame {
	uint64_t pc;	  /* innermost frame: current address; others: return address */
	bool interrupted; /* pc is no return address: a signal came there */
};

struct ptc_unwound {
	struct ptc_unwound_frame *frames; /* owned; innermost first; without signal trampolines */
	size_t n, cap;
	bool cut; /* there are more frames than PTC_UNWIND_MAX */
	/*
	 * The frames end because this file is not available, so its call frame information is
	 * unknown. It is the file of the last frame, or of the thread's ip if there is no frame.
	 * NULL: they end for another reason.
	 */
	const struct ptc_codefile *unknown;
};

/*
 * Unwind thread @t of @d; @as: the mappings of the process. The frames end where unwinding is not
 * possible: no error. @u starts zeroed. Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_unwind(struct ptc_unwound *u, const struct ptc_crash_state *d,
	       const struct ptc_crash_thread *t, const struct ptc_addrspace *as,
	       struct ptc_err *err);
void ptc_unwound_release(struct ptc_unwound *u);

#endif
