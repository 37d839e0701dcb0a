/* SPDX-License-Identifier: MIT */
/* The stack of a dead thread as its memory shows it, by the call frame information of its files. */
#ifndef PTC_DECODE_CRASH_UNWIND_H
#define PTC_DECODE_CRASH_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/addrspace.h"
#include "decode/dead.h"
#include "ptcap/error.h"

enum { PTC_UNWIND_MAX = 4096 }; /* frames */

struct ptc_unwound_frame {
	uint64_t pc;	  /* of the innermost, where it is; of others, where the call returns to */
	bool interrupted; /* pc is no return address: a signal came there */
};

struct ptc_unwound {
	struct ptc_unwound_frame *frames; /* owned; innermost first; without signal trampolines */
	size_t n, cap;
	bool cut; /* there are more than PTC_UNWIND_MAX */
	/* The last frame, or the first if there is none, is in this file, which cannot be had: its
	 * call frame information is not known. NULL: that is not why the frames end. */
	const struct ptc_codefile *unknown;
};

/*
 * Unwind thread @t of @d; @as is what the process had mapped. Where it cannot go on the frames
 * end: no error. Starts zeroed. PTC_E_NO_MEMORY.
 */
int ptc_unwind(struct ptc_unwound *u, const struct ptc_dead *d, const struct ptc_crash_thread *t,
	       const struct ptc_addrspace *as, struct ptc_err *err);
void ptc_unwound_release(struct ptc_unwound *u);

#endif
