/* SPDX-License-Identifier: MIT */
/* Explains a crash: compares the saved state of a process (crash_state.h) with its trace. */
#ifndef PTC_DECODE_CRASH_CRASH_H
#define PTC_DECODE_CRASH_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/calls/silent_loop.h"
#include "decode/crash/crash_flow.h"
#include "decode/crash/crash_reason.h"
#include "decode/crash/crash_state.h"
#include "decode/crash/crash_unwind.h"
#include "decode/crash/python_frames.h"
#include "decode/crash/runtime_message.h"
#include "decode/symbols/inline_frames.h"
#include "ptcap/decode.h"

struct ptc_core;

enum { PTC_CRASH_SAME = -1 }; /* the stacks do not differ */

struct ptc_crash_opts {
	const char *input;
	uint64_t pid;			  /* process ID; 0: the last process that died */
	size_t branches;		  /* number of last branches; at least 1 */
	size_t calls;			  /* number of last beginnings and ends of calls */
	const struct ptc_code_opts *code; /* its core gives the state, if the recording does not */
	bool mangled;
};

/* A frame, from the trace or from memory. */
struct ptc_crash_frame {
	uint64_t pc;	       /* innermost frame: current address; others: where they go on */
	bool exact;	       /* interrupted there, or jumped away: pc is no return address */
	enum ptc_call_how how; /* from the trace: how its function was entered */
	bool landed;	       /* from the trace: see struct ptc_flow_frame */
};

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

	uint64_t ip; /* address of the last instruction, or of the one that would have been next */
	uint8_t insn[PTC_INSN_MAX]; /* bytes at ip */
	size_t insn_len;	    /* 0: none */
	struct ptc_operands ops;    /* valid if insn_len */
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
	struct ptc_core *core; /* NULL: none */
	bool of_core;	       /* the state comes from the core */
	bool has_core;	       /* there is a core */
	size_t core_odd;       /* threads of the core that the recording has elsewhere */
	/* File of the innermost frame with a source line: other code of this file has lines, too.
	 */
	const char *lined_file; /* NULL: there is no such frame */
};

/* Where an address is in the dead process. */
struct ptc_crash_place {
	uint64_t ip;
	uint64_t code;	      /* address that was looked up: ip, or the call in front of it */
	const char *function; /* lent until the next call; NULL: not known */
	uint64_t offset;      /* in function */
	const char *file;     /* file mapped there, "/usr/lib/libc.so.6"; NULL: none */
	uint64_t file_offset;
	const char *source; /* lent until the report is freed; NULL: not known */
	int line;
	/*
	 * The functions at ip, the innermost first: inlined functions, and last the real function.
	 * If the debug information does not tell, there is one, with function, source and line as
	 * above. Names are lent as function.
	 */
	struct ptc_inline_frame functions[PTC_INLINE_MAX];
	size_t nfunctions; /* at least 1 */
	bool inlined;	   /* function, source and line are those of an inlined function */
};

/*
 * @r starts zeroed. Caller releases it, also on failure. Errors: of ptc_crash_state_read, of the
 * decoder, of core_match.h.
 */
int ptc_crash_explain(struct ptc_crash_report *r, const struct ptc_crash_opts *opts,
		      struct ptc_err *err);
/* Returns the stack to believe: from the trace, if the trace can show what happened. */
const struct ptc_crash_stack *ptc_crash_believed(const struct ptc_crash_report *r);

/*
 * Unwind the memory of another thread of the dead process. @ret starts zeroed; the caller frees its
 * frames, also on failure. Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_crash_unwind_thread(const struct ptc_crash_report *r,
			    const struct ptc_crash_state_thread *t, struct ptc_crash_stack *ret,
			    struct ptc_err *err);

void ptc_crash_report_release(struct ptc_crash_report *r);

/*
 * Sets function, source and line of @p to those of its function @level: 0 is the innermost. The
 * offset does not count for an inlined function.
 */
void ptc_crash_place_level(struct ptc_crash_place *p, size_t level);
/*
 * Returns the folder to which p->source may be relative, lent until the report is freed. NULL: not
 * known.
 */
const char *ptc_crash_source_folder(const struct ptc_crash_report *r,
				    const struct ptc_crash_place *p);
void ptc_crash_place(const struct ptc_crash_report *r, uint64_t ip, struct ptc_crash_place *ret);
/* Same, for a frame: describes the call that the frame is in. */
void ptc_crash_place_frame(const struct ptc_crash_report *r, const struct ptc_crash_frame *f,
			   struct ptc_crash_place *ret);

#endif
