/* SPDX-License-Identifier: MIT */
/*
 * The calls that a file of limited size shows. All calls are kept until their file would be too
 * large. Then calls shorter than a threshold are merged into their callers, which count them. The
 * threshold grows as needed, so one pass over the trace is enough. Calls in a merged call are
 * merged too, because they are not longer.
 */
#ifndef PTC_CLI_TIMELINE_KEPT_CALLS_H
#define PTC_CLI_TIMELINE_KEPT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/calls.h"

/* Function of a kept call that is a gap: plus enum ptc_gap_cause. */
#define PTC_KEPT_GAP (UINT32_MAX - 255)

struct ptc_kept_call {
	uint64_t begin, end; /* ns; of a gap: its place, and the bytes that are missing */
	/* Calls that were merged into this one. Of a gap: further gaps that were merged into it. */
	uint64_t merged;
	uint32_t function;
	uint32_t depth : 24, how : 8; /* of the entry; enum ptc_call_how */
};

/* The calls of a thread, in the order of their entries. */
struct ptc_kept_thread {
	struct ptc_kept_call *calls; /* owned */
	size_t n, cap;
	size_t *open; /* owned; indexes of the calls that have not ended, by depth */
	size_t nopen, open_cap;
	uint64_t merged; /* merged calls that no call has called */
};

/* Returns the bytes that a file needs once for @function, and for each call of it (@ret_each). */
typedef uint64_t ptc_kept_cost(void *ctx, uint32_t function, uint64_t *ret_each);

/* Initialize with zeros, limit, cost_of and ctx; bytes and fixed with those of an empty file. */
struct ptc_kept_calls {
	uint64_t limit; /* bytes */
	ptc_kept_cost *cost_of;
	void *ctx;
	struct ptc_kept_thread *threads; /* owned; by the thread numbers of the call stream */
	size_t nthreads, threads_cap;
	struct ptc_kept_function *functions; /* owned */
	size_t nfunctions, functions_cap;
	size_t *path; /* owned; scratch memory for merging */
	size_t path_cap;
	uint64_t bytes;	    /* of a file with the kept calls, at most */
	uint64_t fixed;	    /* of these, the bytes that are no calls: of an empty file, threads */
	uint64_t nopen;	    /* calls that have not ended, of all threads */
	uint64_t threshold; /* ns: shorter calls are merged; 0: none */
	uint64_t calls, merged;
};

/* Bytes in the file. EVENT: an entry, an end, or a gap. THREAD: all that names a thread. */
enum { PTC_KEPT_EVENT = 16, PTC_KEPT_ARG = 8, PTC_KEPT_GAP_ARGS = 40, PTC_KEPT_THREAD = 320 };

void ptc_kept_release(struct ptc_kept_calls *k);

/*
 * The functions return false if out of memory. Places of a thread do not decrease. Entries and ends
 * are balanced.
 */
bool ptc_kept_enter(struct ptc_kept_calls *k, uint32_t thread, uint32_t function,
		    enum ptc_call_how how, uint64_t place);
bool ptc_kept_leave(struct ptc_kept_calls *k, uint32_t thread, uint64_t place);
/* A gap, which may be inside of open functions. */
bool ptc_kept_gap(struct ptc_kept_calls *k, uint32_t thread, uint8_t cause, uint64_t missing,
		  uint64_t place);

/*
 * Merge until the file is not larger than the limit, once, after all calls. Afterwards k->bytes is
 * still greater than the limit if the names of the threads alone need more.
 */
void ptc_kept_finish(struct ptc_kept_calls *k);

/* Returns whether a kept call has @function, whose name the file then needs. */
bool ptc_kept_has(const struct ptc_kept_calls *k, uint32_t function);

#endif
