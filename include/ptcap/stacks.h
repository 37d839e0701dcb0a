/* SPDX-License-Identifier: MIT */
/*
 * Explains the saved states of processes (ptcap/crash_state.h), as `ptcap stacks` does: the stack
 * of each thread, what the thread waits for, and threads that wait for each other. Example:
 * examples/stacks.c.
 *
 * Call ptc_stacks_explain, ask the report, and call ptc_stacks_report_free. The report owns
 * everything that its functions return, and lends it until it is freed, if not stated otherwise.
 * Structures that a function returns may have more members in a later version, so a caller copies
 * none of them. A report is not thread-safe. Two of them are independent. Names come from a
 * recording: they are not escaped for a terminal.
 */
#ifndef PTCAP_STACKS_H
#define PTCAP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/crash_place.h"
#include "ptcap/crash_stack.h"
#include "ptcap/crash_state.h"
#include "ptcap/decode.h"
#include "ptcap/error.h"
#include "ptcap/python_frames.h"
#include "ptcap/wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialize with PTC_STACKS_OPTS_INIT. */
struct ptc_stacks_opts {
	size_t size;	      /* sizeof(struct ptc_stacks_opts) */
	const uint64_t *pids; /* only these processes; borrowed for the call */
	size_t npids;	      /* 0: all */
	/* Borrowed for the call; NULL: no additional sources. */
	const struct ptc_code_opts *code;
	bool mangled; /* report function names as the linker has them, not demangled */
};

/* The defaults: all processes. */
#ifdef __cplusplus
static inline struct ptc_stacks_opts ptc_stacks_opts_init(void)
{
	struct ptc_stacks_opts opts = {};

	opts.size = sizeof(opts);
	return opts;
}
#define PTC_STACKS_OPTS_INIT ptc_stacks_opts_init()
#else
/* clang-format off */
#define PTC_STACKS_OPTS_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_stacks_opts)                                             \
	}
/* clang-format on */
#endif

struct ptc_stacks_report;
struct ptc_stack_process;

/*
 * Explain the states in the recording @path; "-" is standard input, which must be a file. @opts may
 * be NULL. The caller frees *@ret. PTC_E_NOT_EXIST: the recording has no state, or not of a process
 * in opts.pids; with sys set: there is no such file. Other errors: of ptc_decode_open.
 */
PTC_API int ptc_stacks_explain(const char *path, const struct ptc_stacks_opts *opts,
			       struct ptc_stacks_report **ret, struct ptc_err *err);
/* @r may be NULL. */
PTC_API void ptc_stacks_report_free(struct ptc_stacks_report *r);

/*
 * Returns note @i about missing data, one line: "no code for '/usr/lib/x.so'". NULL: no more notes.
 * Control characters in names are escaped.
 */
PTC_API const char *ptc_stacks_report_note(const struct ptc_stacks_report *r, size_t i);

/* Returns the number of processes: all, or the ones of opts.pids. Each has its last state. */
PTC_API size_t ptc_stacks_report_processes(const struct ptc_stacks_report *r);
/* Returns process @i, in the order of the recording. NULL: there is no such process. */
PTC_API const struct ptc_stack_process *ptc_stacks_report_process(const struct ptc_stacks_report *r,
								  size_t i);
/* Returns the number of states of processes that exceed the limit of a report, 256 processes. */
PTC_API uint64_t ptc_stacks_report_left_out(const struct ptc_stacks_report *r);

/* --- processes --- */

/* Returns the state of a process, with its ID. */
PTC_API const struct ptc_crash_state *ptc_stack_process_state(const struct ptc_stack_process *p);
/* Returns whether the recording does not have the mappings of @p: then there are no stacks. */
PTC_API bool ptc_stack_process_is_unmapped(const struct ptc_stack_process *p);

/* Returns the number of circles of threads in which each thread waits for the next. */
PTC_API size_t ptc_stack_process_deadlocks(const struct ptc_stack_process *p);
/*
 * Returns circle @i, an array of the numbers of *@ret_n threads. A circle of one thread waits for
 * itself. NULL: there is no such circle.
 */
PTC_API const size_t *ptc_stack_process_deadlock(const struct ptc_stack_process *p, size_t i,
						 size_t *ret_n);

/* --- threads --- */

struct ptc_stack_thread {
	const struct ptc_crash_state_thread *state; /* its ID, name and registers */
	const struct ptc_wait *wait;		    /* the reason why the thread waits */
	const struct ptc_python_frames *python;	    /* Python's functions of this thread */
	size_t depth;				    /* number of frames */
	bool cut;	     /* there are more frames: PTC_UNWIND_MAX was reached, or unsaved */
	bool unsaved;	     /* the caller of the last frame is in memory that was not saved */
	const char *ends_in; /* the file whose unwind information is missing; NULL: none */
	const char *object;  /* variable at wait->addr; NULL: not known */
	uint64_t object_off; /* wait->addr minus the address of the variable */
	size_t same_as;	     /* number of the first thread with the same stack; maybe itself */
};

/*
 * Returns thread @i, that of ptc_crash_state_get_thread for the state of @p. NULL: there is no such
 * thread.
 */
PTC_API const struct ptc_stack_thread *ptc_stack_process_thread(const struct ptc_stack_process *p,
								size_t i);

/*
 * Describes frame @frame of thread @thread of @p, a process of @r: the call that the frame is in.
 * Frame 0 is the innermost. Returns false, and leaves @ret as it is, if there is no such frame.
 */
PTC_API bool ptc_stacks_place(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
			      size_t thread, size_t frame, struct ptc_crash_place *ret);

#ifdef __cplusplus
}
#endif
#endif
