/* SPDX-License-Identifier: MIT */
/*
 * Explains a crash: compares the saved state of a process (ptcap/crash_state.h) with its trace, as
 * `ptcap crash show` does. Example: examples/crash.c.
 *
 * Call ptc_crash_explain, ask the report, and call ptc_crash_report_free. The report owns
 * everything that its functions return, and lends it until it is freed, if not stated otherwise.
 * Structures that a function returns may have more members in a later version, so a caller copies
 * none of them. A report is not thread-safe. Two of them are independent. Names and messages come
 * from a recording: they are not escaped for a terminal.
 */
#ifndef PTCAP_CRASH_REPORT_H
#define PTCAP_CRASH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/calls.h"
#include "ptcap/crash.h"
#include "ptcap/crash_place.h"
#include "ptcap/crash_reason.h"
#include "ptcap/crash_stack.h"
#include "ptcap/crash_state.h"
#include "ptcap/decode.h"
#include "ptcap/error.h"
#include "ptcap/lookup.h"
#include "ptcap/python_frames.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	PTC_CRASH_SAME = -1,	      /* the stacks do not differ */
	PTC_CRASH_KEPT_MAX = 1 << 24, /* limit of opts.branches and opts.calls */
	PTC_CRASH_DEATHS_MAX = 16,    /* limit: deaths of a report */

	PTC_CRASH_SIGNATURE_FRAMES_MAX = 5, /* limit: functions in a signature */
};

/* Initialize with PTC_CRASH_OPTS_INIT. */
struct ptc_crash_opts {
	size_t size;	 /* sizeof(struct ptc_crash_opts) */
	uint64_t pid;	 /* process ID; 0: the last process that died */
	size_t branches; /* number of last branches in the report; 0: one */
	size_t calls;	 /* number of last beginnings and ends of calls; 0: none */
	/*
	 * Borrowed for the call; NULL: no additional sources. Its core gives the state, if the
	 * recording does not.
	 */
	const struct ptc_code_opts *code;
	bool mangled; /* report function names as the linker has them, not demangled */
};

/* The defaults: the last process that died, one branch, no calls. */
#ifdef __cplusplus
static inline struct ptc_crash_opts ptc_crash_opts_init(void)
{
	struct ptc_crash_opts opts = {};

	opts.size = sizeof(opts);
	return opts;
}
#define PTC_CRASH_OPTS_INIT ptc_crash_opts_init()
#else
/* clang-format off */
#define PTC_CRASH_OPTS_INIT                                                                        \
	{                                                                                          \
		.size = sizeof(struct ptc_crash_opts)                                              \
	}
/* clang-format on */
#endif

struct ptc_crash_report;

/*
 * Explain the crash in the recording @path, a file or a folder, not a pipe. @opts may be NULL. The
 * caller frees *@ret. PTC_E_NOT_EXIST: the recording has no crash, or not of that process, and
 * there is no core; with sys set: there is no such file. PTC_E_FORMAT: a damaged recording or core,
 * or the registers of the killed thread are missing. PTC_E_LIMIT: opts.branches or opts.calls is
 * above PTC_CRASH_KEPT_MAX. Other errors: of ptc_decode_open.
 */
PTC_API int ptc_crash_explain(const char *path, const struct ptc_crash_opts *opts,
			      struct ptc_crash_report **ret, struct ptc_err *err);
/* @r may be NULL. */
PTC_API void ptc_crash_report_free(struct ptc_crash_report *r);

/*
 * Returns note @i about missing data, one line: "no code for '/usr/lib/x.so'". NULL: no more notes.
 * Control characters in names are escaped.
 */
PTC_API const char *ptc_crash_report_note(const struct ptc_crash_report *r, size_t i);

/* Returns the saved state. ptc_crash_state_victim of this state is never NULL. */
PTC_API const struct ptc_crash_state *ptc_crash_report_state(const struct ptc_crash_report *r);

/* --- why --- */

/* The last instruction, or the one that would have been next. */
struct ptc_crash_point {
	uint64_t ip;
	uint8_t insn[16]; /* bytes at ip */
	size_t insn_len;  /* 0: no instruction, or its code is not known */
	uint32_t regs;	  /* registers in the instruction, as bits 1 << enum ptc_crash_reg */
};

/* Returns why the signal came. */
PTC_API const struct ptc_crash_why *ptc_crash_report_why(const struct ptc_crash_report *r);
/* Returns where the signal came. */
PTC_API const struct ptc_crash_point *ptc_crash_report_point(const struct ptc_crash_report *r);
/*
 * Returns the branch that led to an address without code. NULL: the reason is another one, or the
 * branch is not in the trace.
 */
PTC_API const struct ptc_item *ptc_crash_report_culprit(const struct ptc_crash_report *r);

/*
 * Returns the frame that gave up, if the thread sent itself the signal with abort() or raise(): the
 * innermost frame outside of the runtimes. It is an index in the believed stack. -1: none.
 */
PTC_API int ptc_crash_report_gave_up(const struct ptc_crash_report *r);
/* Returns the library function that this frame called, "abort". NULL: not known. */
PTC_API const char *ptc_crash_report_given_up_by(const struct ptc_crash_report *r);
/*
 * Returns where the exception was thrown that ended the process: the last throw of the thread.
 * NULL: not known, or no exception ended the process.
 */
PTC_API const struct ptc_crash_frame *ptc_crash_report_thrown(const struct ptc_crash_report *r);

/* What a runtime printed, or would have printed, when it ended the process. */
struct ptc_runtime_text {
	enum ptc_crash_message_kind kind;
	/* of an exception, demangled; of a report: the kind of the error; otherwise "" */
	const char *type;
	const char *text; /* "": the message is not known */
	bool cut;	  /* the text is longer */
	const char *file; /* of a panic: its place in the source; otherwise "" */
	uint32_t line, column;
	uint64_t goroutine; /* of a Go panic: the number of the goroutine */
};

/* Returns the number of messages. */
PTC_API size_t ptc_crash_report_messages(const struct ptc_crash_report *r);
/* Returns message @i. NULL: there is no such message. */
PTC_API const struct ptc_runtime_text *ptc_crash_report_message(const struct ptc_crash_report *r,
								size_t i);
/*
 * Returns "abort-message", "exception", "panic", "go-panic", "asan-report" or "?" (another kind),
 * static.
 */
PTC_API const char *ptc_runtime_message_name(enum ptc_crash_message_kind kind);

/* --- the signature --- */

/*
 * Returns the signature: 16 digits that are equal for equal crashes. Different runs of a program,
 * threads, inputs, depths of a recursion and builds with the same functions have the same
 * signature. It is the beginning of the SHA-256 of the reason and of the functions below, with
 * their version: doc/json.md has the rules. Never NULL. Lent until the report is freed, as all
 * strings here.
 */
PTC_API const char *ptc_crash_report_signature(const struct ptc_crash_report *r);
/* Returns the version of the rules. Signatures of different versions are never equal. */
PTC_API uint32_t ptc_crash_report_signature_version(const struct ptc_crash_report *r);
/* Returns the reason in the signature, "SIGSEGV write". Never NULL; not escaped. */
PTC_API const char *ptc_crash_report_signature_reason(const struct ptc_crash_report *r);
/*
 * Returns function @i in the signature, "program!function", not escaped. The innermost is 0. NULL:
 * there are no more. At most PTC_CRASH_SIGNATURE_FRAMES_MAX. With none of them, the signature is
 * the reason only: the stack is not known.
 */
PTC_API const char *ptc_crash_report_signature_frame(const struct ptc_crash_report *r, size_t i);

/* --- stacks --- */

/* Return the stack of the killed thread: from the trace, or from memory. Never NULL. */
PTC_API const struct ptc_crash_stack *ptc_crash_report_traced(const struct ptc_crash_report *r);
PTC_API const struct ptc_crash_stack *ptc_crash_report_unwound(const struct ptc_crash_report *r);
/* Returns the stack to believe: from the trace, if the trace can show what happened. */
PTC_API const struct ptc_crash_stack *ptc_crash_report_believed(const struct ptc_crash_report *r);
/* Returns the index of the first frame in which both stacks differ, or PTC_CRASH_SAME. */
PTC_API int ptc_crash_report_differ_at(const struct ptc_crash_report *r);

/*
 * Unwind the memory of another thread of the dead process, @t of ptc_crash_report_state. The caller
 * frees *@ret before the report. PTC_E_NO_MEMORY.
 */
PTC_API int ptc_crash_unwind_thread(const struct ptc_crash_report *r,
				    const struct ptc_crash_state_thread *t,
				    struct ptc_crash_stack **ret, struct ptc_err *err);
/* Frees a stack of ptc_crash_unwind_thread, which may be NULL. */
PTC_API void ptc_crash_stack_free(struct ptc_crash_stack *s);

/* Returns the Python functions of the killed thread. Never NULL. */
PTC_API const struct ptc_python_frames *ptc_crash_report_python(const struct ptc_crash_report *r);

/* --- the trace --- */

/* Returns whether the trace does not end where the signal came: it may be older. */
PTC_API bool ptc_crash_report_trace_is_short(const struct ptc_crash_report *r);
/*
 * Returns the loop without packets that the thread was in when the trace ended. Then the stack from
 * memory is the believed one. NULL: there is no such loop.
 */
PTC_API const struct ptc_silent_loop *ptc_crash_report_loop(const struct ptc_crash_report *r);

/* Returns the number of last branches and gaps: at most opts.branches. 0: there is no trace. */
PTC_API size_t ptc_crash_report_branches(const struct ptc_crash_report *r);
/* Returns branch or gap @i; the oldest has 0. NULL: there is no such item. */
PTC_API const struct ptc_item *ptc_crash_report_branch(const struct ptc_crash_report *r, size_t i);

/* The beginning or the end of a call. */
struct ptc_flow_call {
	enum ptc_call_type type;
	enum ptc_call_how how;
	uint32_t depth; /* as in struct ptc_call */
	uint64_t ip;	/* where the function was entered */
};

/*
 * Returns the number of last beginnings and ends of calls: at most opts.calls. A return at the end
 * to an address that no call came from ends none of them.
 */
PTC_API size_t ptc_crash_report_calls(const struct ptc_crash_report *r);
/* Returns beginning or end @i; the oldest has 0. NULL: there is none. */
PTC_API const struct ptc_flow_call *ptc_crash_report_call(const struct ptc_crash_report *r,
							  size_t i);

/* --- the core and other crashes --- */

/* What a core dump beside the recording has. */
struct ptc_crash_core {
	bool is_state; /* the state comes from the core */
	size_t moved;  /* threads that the core and the recording have at different places */
};

/* Returns the core of opts.code. NULL: none was given. */
PTC_API const struct ptc_crash_core *ptc_crash_report_core(const struct ptc_crash_report *r);

/*
 * Returns how many deaths of processes the report has, if the recording has more than one: the
 * newest PTC_CRASH_DEATHS_MAX. One of them may be the death that the report explains.
 */
PTC_API size_t ptc_crash_report_deaths(const struct ptc_crash_report *r);
/* Returns death @i; the oldest has 0. NULL: there is no such death. */
PTC_API const struct ptc_crash_signal *ptc_crash_report_death(const struct ptc_crash_report *r,
							      size_t i);
/* Returns the number of older deaths. */
PTC_API uint64_t ptc_crash_report_deaths_left_out(const struct ptc_crash_report *r);

/* --- places --- */

/* Describes the address @ip of the process. */
PTC_API void ptc_crash_place_at(const struct ptc_crash_report *r, uint64_t ip,
				struct ptc_crash_place *ret);
/* Same, for a frame: describes the call that the frame is in. */
PTC_API void ptc_crash_place_frame(const struct ptc_crash_report *r,
				   const struct ptc_crash_frame *f, struct ptc_crash_place *ret);
/* Returns the folder to which p->source may be relative. NULL: not known. */
PTC_API const char *ptc_crash_source_folder(const struct ptc_crash_report *r,
					    const struct ptc_crash_place *p);

/*
 * Returns whether @p is in the C library, the loader, the runtime of a language, or the vdso. A
 * static program contains libraries. So a function without a source line is not the user's if other
 * code of the file has source lines. In a program without source lines, names of the C library's
 * internal functions count, too.
 */
PTC_API bool ptc_crash_is_runtime(const struct ptc_crash_report *r,
				  const struct ptc_crash_place *p);
/*
 * Sets @p to the innermost of its functions that is the user's: with ptc_crash_place_level. Returns
 * false, and leaves @p as it is, if all its functions are of a runtime.
 */
PTC_API bool ptc_crash_find_user_code(const struct ptc_crash_report *r, struct ptc_crash_place *p);

#ifdef __cplusplus
}
#endif
#endif
