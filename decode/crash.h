/* SPDX-License-Identifier: MIT */
/*
 * A crash explained: the state that was saved of a process (dead.h), held beside what the trace
 * says of it.
 */
#ifndef PTC_DECODE_CRASH_H
#define PTC_DECODE_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/circle.h"
#include "decode/crash_flow.h"
#include "decode/crash_reason.h"
#include "decode/crash_unwind.h"
#include "decode/dead.h"
#include "ptcap/decode.h"

enum { PTC_CRASH_SAME = -1 }; /* the stacks do not differ */

struct ptc_crash_opts {
	const char *input;
	uint64_t pid;			  /* of the process; 0: the last that died */
	size_t branches;		  /* the last so many; at least 1 */
	size_t calls;			  /* beginnings and ends of calls */
	const struct ptc_code_opts *code; /* its core has the state, if the recording has not */
	bool mangled;
};

/* A frame, as the trace or the memory shows it. */
struct ptc_crash_frame {
	uint64_t pc; /* of the innermost, where it is; else where it will go on */
	bool exact;  /* it was interrupted there, or jumped away: pc is no return address */
	enum ptc_call_how how; /* of the trace: how its function was entered */
};

struct ptc_crash_stack {
	struct ptc_crash_frame *frames; /* owned; innermost first */
	size_t n, cap;
	bool cut;	     /* there were more: the outermost are missing */
	const char *ends_in; /* the file that would say who called, and cannot be had; or NULL */
};

struct ptc_crash_report {
	struct ptc_file *file; /* owned, as all of it */
	struct ptc_decode *d;
	struct ptc_id_range tid; /* lent to d: the victim */
	struct ptc_dead dead;
	const struct ptc_dead_thread *victim; /* of dead */
	struct ptc_crash_flow flow;
	struct ptc_crash_stack traced, unwound;
	int differ; /* the first frame in which they do; or PTC_CRASH_SAME */

	uint64_t ip; /* of the instruction that was the last, or would have been next */
	uint8_t insn[PTC_INSN_MAX]; /* there */
	size_t insn_len;	    /* 0: none */
	struct ptc_operands ops;    /* if insn_len */
	struct ptc_crash_why why;
	/* A bad jump: the transfer that did it, of flow. NULL: not that, or not in the trace. */
	const struct ptc_item *culprit;
	/* abort: the frame of the stack to believe that gave up; -1: none. */
	int gave_up;
	const char *given_up_by; /* the function of a library that it called; copied, or NULL */
	char given_up_name[128];
	/* Where the trace ended the thread went round in circles that it cannot show: the stack of
	 * the memory is the one to believe. No insns: it did not. */
	struct ptc_circle circle;
	/* The trace does not end where the signal came. */
	bool trace_is_short;
	bool of_core;	 /* the state is the core's */
	bool has_core;	 /* there is one: */
	size_t core_odd; /* how many of its threads are elsewhere than the recording has them */
};

/* Where an address is in the dead process. */
struct ptc_crash_place {
	uint64_t ip;
	const char *function; /* lent until the next call; NULL: not known */
	uint64_t offset;      /* in function */
	const char *file;     /* that is mapped there: "/usr/lib/libc.so.6"; NULL: none */
	uint64_t file_offset;
	const char *source; /* lent until the report is freed; NULL: not known */
	int line;
};

/* Starts zeroed. Release it whether this fails or not. Errors: ptc_dead_read's, the decoder's. */
int ptc_crash_explain(struct ptc_crash_report *r, const struct ptc_crash_opts *opts,
		      struct ptc_err *err);
/* The stack that is to be believed: the trace's, if it has one and can show what happened. */
const struct ptc_crash_stack *ptc_crash_believed(const struct ptc_crash_report *r);

void ptc_crash_report_release(struct ptc_crash_report *r);

void ptc_crash_place(const struct ptc_crash_report *r, uint64_t ip, struct ptc_crash_place *ret);
/* Of a frame: the call that it is in. */
void ptc_crash_place_frame(const struct ptc_crash_report *r, const struct ptc_crash_frame *f,
			   struct ptc_crash_place *ret);

#endif
