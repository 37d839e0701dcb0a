/* SPDX-License-Identifier: MIT */
/*
 * Unwinds the stack of a thread from its saved memory, with the call frame information of its
 * files.
 */
#ifndef PTC_DECODE_CRASH_CRASH_UNWIND_H
#define PTC_DECODE_CRASH_CRASH_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/crash/crash_state.h"
#include "decode/image/addrspace.h"
#include "ptcap/crash_stack.h"
#include "ptcap/error.h"

struct ptc_unwound_frame {
	uint64_t pc;	  /* innermost frame: current address; others: return address */
	bool interrupted; /* pc is no return address: a signal came there */
};

struct ptc_unwound {
	struct ptc_unwound_frame *frames; /* owned; innermost first; without signal trampolines */
	size_t n, cap;
	bool cut;     /* there are more frames: PTC_UNWIND_MAX was reached, or unsaved */
	bool unsaved; /* the caller of the last frame is in memory that was not saved */
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
/* Unwinds several threads of one process. */
struct ptc_unwinder;

/* @d and @as must outlive it, and must not change. */
int ptc_unwinder_new(const struct ptc_crash_state *d, const struct ptc_addrspace *as,
		     struct ptc_unwinder **ret, struct ptc_err *err);
/* As ptc_unwind. */
int ptc_unwinder_run(struct ptc_unwinder *w, const struct ptc_crash_thread *t,
		     struct ptc_unwound *u, struct ptc_err *err);
/*
 * Returns the linker's name of the variable at @addr, and the offset in it. Borrowed until
 * ptc_unwinder_free. NULL: not known.
 */
const char *ptc_unwinder_data_name(struct ptc_unwinder *w, uint64_t addr, uint64_t *ret_off);
void ptc_unwinder_free(struct ptc_unwinder *w);

void ptc_unwound_release(struct ptc_unwound *u);

#endif
