/* SPDX-License-Identifier: MIT */
/* The structures of ptcap/crash_report.h. */
#ifndef PTC_DECODE_CRASH_CRASH_H
#define PTC_DECODE_CRASH_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/operand.h"
#include "decode/crash/crash_flow.h"
#include "decode/crash/crash_state.h"
#include "decode/crash/crash_unwind.h"
#include "decode/crash/python_frames.h"
#include "decode/crash/runtime_message.h"
#include "decode/crash/signature.h"
#include "ptcap/crash_report.h"

struct ptc_core;

struct ptc_crash_stack {
	struct ptc_crash_frame *frames; /* owned; innermost first */
	size_t n, cap;
	bool cut;	     /* the outermost frames are missing */
	const char *ends_in; /* file that would give the caller, but is not available; or NULL */
};

struct ptc_crash_report {
	struct ptc_file *file; /* owned, as all members */
	struct ptc_decode *d;
	struct ptc_id_range tid; /* the victim; lent to d */
	struct ptc_crash_state dead;
	struct ptc_crash_deaths deaths; /* of the recording; more than one: @dead is one of them */
	const struct ptc_crash_state_thread *victim; /* in dead */
	struct ptc_crash_flow flow;
	struct ptc_crash_stack traced, unwound;
	int differ; /* index of the first frame that differs, or PTC_CRASH_SAME */

	struct ptc_crash_point at;
	struct ptc_operands ops; /* valid if at.insn_len */
	struct ptc_crash_why why;
	/* Bad jump: the branch that did it, in flow. NULL: no bad jump, or not in the trace. */
	const struct ptc_item *culprit;
	/*
	 * A signal by abort() or raise(): index of the frame that gave up, in the believed stack;
	 * -1: none.
	 */
	int gave_up;
	/* library function that this frame called; in given_up_name, or NULL */
	const char *given_up_by;
	char given_up_name[128];
	/* what the runtime said */
	struct ptc_runtime_message messages[PTC_CRASH_STATE_MESSAGES];
	struct ptc_runtime_text texts[PTC_CRASH_STATE_MESSAGES]; /* lent from messages */
	size_t nmessages;
	struct ptc_python_frames python; /* of the victim */
	/*
	 * If has_thrown: where the exception was thrown that ended the process. It is the last
	 * throw of the thread.
	 */
	bool has_thrown;
	struct ptc_crash_frame thrown;
	/*
	 * The loop without packets that the thread was in when the trace ended. Then the stack from
	 * memory is the believed one. insns 0: no such loop.
	 */
	struct ptc_silent_loop circle;
	/* The trace does not end where the signal came. */
	bool trace_is_short;
	struct ptc_core *core;		 /* NULL: none */
	struct ptc_crash_core core_says; /* if core */
	/* File of the innermost frame with a source line: other code of this file has lines, too.
	 */
	const char *lined_file; /* NULL: there is no such frame */
	struct ptc_crash_signature signature;
};

#endif
