/* SPDX-License-Identifier: MIT */
/*
 * The functions that are open in each thread, as `calls` knows them, and the searches for a frame:
 * by its return address, by its function, or by the address that a signal interrupted.
 */
#ifndef PTC_DECODE_CALLS_CALL_STACK_H
#define PTC_DECODE_CALLS_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/calls/frame_index.h"

enum { PTC_CALL_STACK_MAX = 1 << 16 /* a deeper stack drops its outermost half */ };

struct ptc_call_stack_frame {
	uint64_t ip;	   /* where it was entered */
	uint64_t function; /* start of its function; 0: unknown */
	uint64_t ret;	   /* return address; 0: unknown */
	uint64_t since, since_insns;
	bool signal;   /* ret is the interrupted address */
	bool returned; /* this handler has returned, to the code that calls sigreturn */
	/* In the index: the next outer frame with this function, and with this return address. */
	uint32_t before_function, before_ret;
};

/* The stack of a thread. */
struct ptc_call_stack {
	int32_t tid, pid;
	uint32_t queue; /* of its last item */
	uint64_t time;	/* of its last item */
	uint64_t insns; /* sum of the insns of its items */
	uint64_t life;	/* from opts.life, when it last came out of the kernel */
	struct ptc_call_stack_frame *frames; /* owned; the outermost first */
	size_t n, cap;
	struct ptc_frame_index index; /* of all frames but the innermost ones */
	/*
	 * out: outside of the trace. next: where it would go on if nothing came in between; may be
	 * 0.
	 */
	bool out, has_next;
	uint64_t next, exit_ip, exit_function;
};

/* Initialize with zeros. */
struct ptc_call_stacks {
	struct ptc_call_stack *v; /* owned; ascending tid */
	size_t n, cap, last;
};

void ptc_call_stacks_release(struct ptc_call_stacks *s);

/* Returns the stack of @tid, which may be new, valid until the next call. NULL: out of memory. */
struct ptc_call_stack *ptc_call_stack_of(struct ptc_call_stacks *s, int32_t tid);

/* A frame was pushed. Returns false if out of memory. */
bool ptc_call_stack_pushed(struct ptc_call_stack *t);

/* A frame was popped. */
void ptc_call_stack_popped(struct ptc_call_stack *t);

/* The frames have other numbers. Returns false if out of memory. */
bool ptc_call_stack_renumbered(struct ptc_call_stack *t);

/* Returns the index + 1 of the innermost frame that returns to @to. 0: none. */
size_t ptc_call_stack_by_return(const struct ptc_call_stack *t, uint64_t to);

/*
 * Returns the index + 1 of the innermost of the first @n frames that is of @function. 0: none. @n
 * leaves out at most two frames.
 */
size_t ptc_call_stack_by_function(const struct ptc_call_stack *t, uint64_t function, size_t n);

/* Returns the index + 1 of the innermost handler that interrupted this address. 0: none. */
size_t ptc_call_stack_by_signal(const struct ptc_call_stack *t, uint64_t interrupted);

#endif
