/* SPDX-License-Identifier: MIT */
/*
 * Calls of a part of a trace (ptc_decode_choose_shard), and how the calls of all parts become those
 * of the whole trace (doc/adr/0039-calls-of-shards.md).
 *
 * Where a part begins, the functions that are open are unknown. The part knows the functions that
 * were called in it. A branch whose effect depends on the unknown functions becomes a step: it is
 * handed over with the known functions that are open, and all open functions are unknown again.
 * Somebody who knows the end of the part before can take the steps: ptc_calls_restore,
 * ptc_calls_pass and ptc_calls_item then give the calls of the whole trace.
 */
#ifndef PTCAP_PART_CALLS_H
#define PTCAP_PART_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function that was called in the part and is open. */
struct ptc_open_call {
	uint64_t ip;	      /* where it was entered */
	uint64_t function;    /* the start of its function; 0: unknown */
	uint64_t ret;	      /* the address to return to; 0: unknown */
	uint64_t since;	      /* when it was entered, ns, or PTC_NO_TIME */
	uint64_t since_insns; /* instructions of the thread in the part until then */
};

/* What a thread did since its last step, and a branch or gap that depends on unknown functions. */
struct ptc_part_step {
	int32_t tid; /* of the thread; a gap of a queue is a step of the unknown thread, -1 */
	bool passed; /* pid, queue and time are those of the last branch before; else not known */
	int32_t pid;
	uint32_t queue;
	uint64_t time;
	uint64_t insns; /* instructions of the thread in the part, without those of item */
	const struct ptc_open_call *calls; /* lent; the outermost first */
	size_t ncalls;
	/* Starts of functions that must not be open among the unknown ones; lent. */
	const uint64_t *absent;
	size_t nabsent;
	/* The branch with which the thread has left the trace; NULL: none is known; lent. */
	const struct ptc_item *exit;
	uint64_t exit_function; /* the start of the function that has this branch; 0: unknown */
	const struct ptc_item *item; /* NULL: none, see ptc_part_calls_flush; lent */
};

struct ptc_part_calls;

/*
 * @opts: on_call gets calls and ends inside of the part only. The functions below count as one in
 * their depths. @opts->closes must be set. @on_step gets each step, and returns non-zero to stop.
 * Its ctx is that of @opts. Caller frees the result. NULL: out of memory, or @opts is not valid.
 */
PTC_API struct ptc_part_calls *ptc_part_calls_new(const struct ptc_calls_opts *opts,
						  int (*on_step)(void *ctx,
								 const struct ptc_part_step *step));
PTC_API void ptc_part_calls_free(struct ptc_part_calls *p);

/* As ptc_calls_item. */
PTC_API int ptc_part_calls_item(struct ptc_part_calls *p, const struct ptc_item *item);

/*
 * Give a step without an item for each thread: once at the end of the part, and when the caller has
 * no memory for more calls. Returns 0, PTC_E_NO_MEMORY, or the result of on_step.
 */
PTC_API int ptc_part_calls_flush(struct ptc_part_calls *p);

/*
 * Open a call that another part has counted, without on_call. Its since_insns counts from the begin
 * of the trace. Returns 0, PTC_E_NO_MEMORY, or PTC_E_LIMIT: the stack is too deep.
 */
PTC_API int ptc_calls_restore(struct ptc_calls *c, int32_t tid, const struct ptc_open_call *call);

/*
 * Pass items that changed no open function: the last one is of this process, queue and time, and
 * their instructions are @insns. Returns 0 or PTC_E_NO_MEMORY.
 */
PTC_API int ptc_calls_pass(struct ptc_calls *c, const struct ptc_item *last, uint64_t insns);

/* Returns whether a function that starts at @function is open in thread @tid. */
PTC_API bool ptc_calls_is_open(struct ptc_calls *c, int32_t tid, uint64_t function);

#ifdef __cplusplus
}
#endif
#endif
