/* SPDX-License-Identifier: MIT */
/*
 * Explains the saved states of processes (crash_state.h): the stack of each thread, what it waits
 * for, and threads that wait for each other.
 */
#ifndef PTC_DECODE_STACKS_STACKS_H
#define PTC_DECODE_STACKS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/crash/crash.h"
#include "decode/crash/crash_state.h"
#include "decode/crash/crash_unwind.h"
#include "decode/crash/python_frames.h"
#include "decode/stacks/deadlock.h"
#include "decode/stacks/wait.h"
#include "ptcap/decode.h"

struct ptc_stacks_show_opts {
	const char *input;
	const uint64_t *pids; /* only these processes */
	size_t npids;	      /* 0: all */
	const struct ptc_code_opts *code;
	bool mangled;
};

struct ptc_stack_thread {
	const struct ptc_crash_state_thread *state;
	struct ptc_unwound stack;	 /* owned */
	struct ptc_python_frames python; /* owned; Python's functions of this thread */
	struct ptc_wait wait;
	const char *ends_in; /* the file whose unwind information is missing; NULL: none */
	char *object;	     /* owned; variable at wait.addr; NULL: not known */
	uint64_t object_off; /* wait.addr minus the address of the variable */
	size_t same_as;	     /* number of the first thread with the same stack; maybe itself */
};

struct ptc_stack_process {
	struct ptc_crash_state state;
	struct ptc_stack_thread *threads; /* owned; state.nthreads, in the same order */
	struct ptc_deadlocks deadlocks;
	bool unmapped; /* the recording does not have the mappings: addresses only */
};

struct ptc_stacks_report {
	struct ptc_file *file; /* owned, as all members */
	struct ptc_decode *d;
	struct ptc_stack_process *processes;
	size_t n;
	struct ptc_python_limits python; /* for the frames of all threads */
	uint64_t left_out; /* states of processes that are more than PTC_CRASH_PIDS_MAX */
};

/*
 * @r starts zeroed. Caller releases it, also on failure. PTC_E_NOT_EXIST: the recording has no
 * state, or not of a process in @opts. Other errors: of the reader and of the decoder.
 */
int ptc_stacks_explain(struct ptc_stacks_report *r, const struct ptc_stacks_show_opts *opts,
		       struct ptc_err *err);
void ptc_stacks_report_release(struct ptc_stacks_report *r);

/*
 * Describes frame @i of thread @t: the call that the frame is in. The strings are lent until the
 * next call.
 */
void ptc_stacks_place(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		      const struct ptc_stack_thread *t, size_t i, struct ptc_crash_place *ret);

#endif
