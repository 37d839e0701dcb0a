/* SPDX-License-Identifier: MIT */
/*
 * Transfers in, calls and their ends out: each thread's stack of functions, rebuilt. It holds
 * over what does not come back the way it went: longjmp and exceptions (frames are left without
 * a return), tail calls (a frame changes its function), signals (a frame that ends with the
 * sigreturn), retpolines, a trace that begins in the middle, and gaps.
 */
#ifndef PTC_DECODE_CALLS_H
#define PTC_DECODE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

enum ptc_call_type {
	PTC_CALL_ENTER, /* a function began */
	PTC_CALL_LEAVE, /* it ended, or was left */
	PTC_CALL_LOST,	/* a gap: who called whom is not known any more; its stack is gone */
};

enum ptc_call_how {
	PTC_CALL_BY_CALL,     /* ENTER; LEAVE by its return */
	PTC_CALL_BY_TRACE,    /* ENTER: it ran when the trace began, or behind a gap */
	PTC_CALL_BY_RETURN,   /* ENTER: its call was before the trace; LEAVE: of such a one */
	PTC_CALL_BY_TAIL,     /* ENTER: another one jumped to it; LEAVE: it jumped to another */
	PTC_CALL_BY_SIGNAL,   /* ENTER: a handler; LEAVE: sigreturn */
	PTC_CALL_BY_UNWINDING /* LEAVE: longjmp, an exception */
};

struct ptc_call {
	enum ptc_call_type type;
	enum ptc_call_how how;
	uint32_t depth; /* of the frame; the outermost has 0 */
	bool cut;	/* ENTER: the outermost half of the stack was forgotten for it */
	uint64_t ip;	/* where it was entered */
	uint64_t since; /* LEAVE: when it was, ns, or PTC_NO_TIME */
	const struct ptc_item *item; /* the transfer, or the gap; lent */
};

struct ptc_calls_opts {
	/* Start of the function that holds @ip for @item's process; 0: not known. */
	uint64_t (*function)(void *ctx, const struct ptc_item *item, uint64_t ip);
	/* Non-zero: no more. */
	int (*on_call)(void *ctx, const struct ptc_call *call);
	void *ctx;
	/* ptc_decode_life of @item's thread; NULL: threads and programs stay the same. */
	uint64_t (*life)(void *ctx, const struct ptc_item *item);
};

struct ptc_calls;

/* NULL: out of memory. */
struct ptc_calls *ptc_calls_new(const struct ptc_calls_opts *opts);
void ptc_calls_free(struct ptc_calls *c);

/*
 * One item of a decode with opts.bytes (an instruction's length is its return address). A gap of
 * nobody is one of all threads whose trace was last in that queue.
 * Returns 0, what on_call returned, or PTC_E_NO_MEMORY.
 */
int ptc_calls_item(struct ptc_calls *c, const struct ptc_item *item);

#endif
