/* SPDX-License-Identifier: MIT */
/*
 * Turns branches into calls and returns, and rebuilds the function stack of each thread. Handles
 * branches that do not return the way they came: longjmp and exceptions (frames are left without a
 * return), tail calls (a frame changes its function), signals (a frame that ends with sigreturn)
 * and retpolines. Also handles gaps, and a trace that begins in the middle.
 */
#ifndef PTCAP_CALLS_H
#define PTCAP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"
#include "ptcap/lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ptc_call_type {
	PTC_CALL_ENTER, /* a function began */
	PTC_CALL_LEAVE, /* a function returned or was abandoned */
	PTC_CALL_LOST,	/* a gap: the callers are unknown, and the thread's stack is dropped */
};

enum ptc_call_how {
	PTC_CALL_BY_CALL,   /* ENTER: by a call; LEAVE: by its return */
	PTC_CALL_BY_TRACE,  /* ENTER: it ran when the trace began, or after a gap */
	PTC_CALL_BY_RETURN, /* ENTER, LEAVE: by a return whose call was before the trace */
	/* ENTER: another function jumped to it; LEAVE: it jumped to another */
	PTC_CALL_BY_TAIL,
	PTC_CALL_BY_SIGNAL,    /* ENTER: a handler; LEAVE: by sigreturn */
	PTC_CALL_BY_UNWINDING, /* LEAVE: longjmp, an exception */
	PTC_CALL_BY_INLINING,  /* ENTER, LEAVE: an inlined function; ptc_inline_calls adds it */
	PTC_CALL_BY_GAP,       /* LEAVE, with opts.closes: a gap hides how it went on */
	PTC_CALL_BY_END, /* LEAVE, with opts.closes: it ran when the thread, program or trace ended
			  */
};

struct ptc_call {
	enum ptc_call_type type;
	enum ptc_call_how how;
	uint32_t depth; /* of the frame; the outermost frame has 0 */
	/*
	 * ENTER: the outermost half of the stack was dropped to make space. Inlined functions may
	 * end or begin before this ENTER: then the first of these calls has it.
	 */
	bool cut;
	uint64_t ip;	/* where the frame was entered; by inlining: the first call in it */
	uint64_t from;	/* ENTER by a call or a signal: the address in the caller; else 0 */
	uint64_t ret;	/* ENTER by a call or a signal: the address to return to; 0: unknown */
	uint64_t since; /* LEAVE: when the frame was entered, ns, or PTC_NO_TIME */
	uint64_t insns; /* with opts.icount: instructions of the thread up to the item */
	uint64_t since_insns; /* LEAVE: insns when the frame was entered; PTC_NO_TIME: not known */
	const char *name; /* ENTER by inlining: the function; lent by the decode; NULL: not known */
	const struct ptc_item *item; /* the branch, or the gap; lent */
};

/* Initialize with PTC_CALLS_OPTS_INIT. */
struct ptc_calls_opts {
	size_t size; /* sizeof(struct ptc_calls_opts) */
	/* Returns the start of the function that contains @ip in @item's process; 0: unknown. */
	uint64_t (*function)(void *ctx, const struct ptc_item *item, uint64_t ip);
	/* Returns non-zero to stop. */
	int (*on_call)(void *ctx, const struct ptc_call *call);
	void *ctx;
	/*
	 * ptc_decode_life of @item's thread. NULL: no thread ID is reused, and no program is
	 * replaced.
	 */
	uint64_t (*life)(void *ctx, const struct ptc_item *item);
	/*
	 * Returns the name of the function that contains @ip in @item's process; NULL: unknown.
	 * Unwinders of exceptions are recognised by name. NULL: there are none.
	 */
	const char *(*name)(void *ctx, const struct ptc_item *item, uint64_t ip);
	/*
	 * Each ENTER gets its LEAVE: at a gap and in a stack that is too deep (both BY_GAP), where
	 * a new life of the thread begins, and at the end of the trace (both BY_END). The item of
	 * such a LEAVE has only the type GAP, the thread and the time of the last item before, and
	 * lives for the call.
	 */
	bool closes;
};

/* The defaults: no option is set. */
#ifdef __cplusplus
static inline struct ptc_calls_opts ptc_calls_opts_init(void)
{
	struct ptc_calls_opts ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_CALLS_OPTS_INIT ptc_calls_opts_init()
#else
/* clang-format off */
#define PTC_CALLS_OPTS_INIT                                                                    \
	{                                                                                          \
		.size = sizeof(struct ptc_calls_opts)                                            \
	}
/* clang-format on */
#endif

struct ptc_calls;

/* Caller frees the result. NULL: out of memory, or @opts has no size or unknown options. */
PTC_API struct ptc_calls *ptc_calls_new(const struct ptc_calls_opts *opts);
PTC_API void ptc_calls_free(struct ptc_calls *c);

/*
 * Feed one item of a decode with opts.lengths or opts.bytes (the instruction's length gives the
 * return address). A gap without a thread counts for all threads that were last in its queue.
 * Returns 0, the non-zero result of on_call, or PTC_E_NO_MEMORY.
 */
PTC_API int ptc_calls_item(struct ptc_calls *c, const struct ptc_item *item);

/*
 * With opts.closes: report the end of all frames that are still open, BY_END. To be called once,
 * after the last item. Returns 0, or the non-zero result of on_call.
 */
PTC_API int ptc_calls_finish(struct ptc_calls *c);

/*
 * Adds inlined functions to the calls and returns of a struct ptc_calls. A call has an address, and
 * the debug information tells which functions the compiler has inlined there. These functions
 * become frames around the called function, as in a backtrace.
 *
 * An inlined function without calls makes no branch that marks its begin, so it gets no frame.
 * Consecutive calls from one inlined function belong to one frame, even if a loop ran the inlined
 * function again.
 *
 * Initialize with PTC_INLINE_CALLS_OPTS_INIT.
 */
struct ptc_inline_calls_opts {
	size_t size; /* sizeof(struct ptc_inline_calls_opts) */
	/* ptc_decode_inlines */
	size_t (*inlines)(void *ctx, const struct ptc_item *item, uint64_t ip,
			  struct ptc_inline_frame frames[PTC_INLINE_MAX]);
	/*
	 * Gets the calls that were added, and those with BY_INLINING. All depths count inlined
	 * functions. Returns non-zero to stop.
	 */
	int (*on_call)(void *ctx, const struct ptc_call *call);
	void *ctx;
};

/* The defaults: no option is set. */
#ifdef __cplusplus
static inline struct ptc_inline_calls_opts ptc_inline_calls_opts_init(void)
{
	struct ptc_inline_calls_opts ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_INLINE_CALLS_OPTS_INIT ptc_inline_calls_opts_init()
#else
/* clang-format off */
#define PTC_INLINE_CALLS_OPTS_INIT                                                                    \
	{                                                                                          \
		.size = sizeof(struct ptc_inline_calls_opts)                                            \
	}
/* clang-format on */
#endif

struct ptc_inline_calls;

/* Caller frees the result. NULL: out of memory, or @opts has no size or unknown options. */
PTC_API struct ptc_inline_calls *ptc_inline_calls_new(const struct ptc_inline_calls_opts *opts);
PTC_API void ptc_inline_calls_free(struct ptc_inline_calls *c);

/*
 * Add the next call of one struct ptc_calls. Returns 0, the non-zero result of on_call, or
 * PTC_E_NO_MEMORY.
 */
PTC_API int ptc_inline_calls_add(struct ptc_inline_calls *c, const struct ptc_call *call);

#ifdef __cplusplus
}
#endif
#endif
