/* SPDX-License-Identifier: MIT */
/*
 * Sums the calls of a recording by function: calls, own and total instructions and time, and the
 * durations of calls. Both axes are summed at once: the instructions of the thread, and the time.
 *
 * Own instructions are exact, also of calls that a gap or the end of the trace cuts off. A call
 * counts in the total of its function only if no other call of this function is open in its thread.
 */
#ifndef PTC_CLI_REPORT_FUNCTION_SUMS_H
#define PTC_CLI_REPORT_FUNCTION_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tid_counter.h"
#include "cli/calls/call_stream.h"
#include "cli/calls/part_tree.h"
#include "cli/common/number_index.h"
#include "cli/report/durations.h"

enum { PTC_SUMS_INSNS, PTC_SUMS_TIME, PTC_SUMS_AXES };

/* Sums of a function, or of all functions of a group. Times are ns. Sums stop at UINT64_MAX. */
struct ptc_function_sum {
	uint32_t group;	   /* 0 without groups */
	uint32_t function; /* number in the call stream */
	/* Calls that began in the trace, at the first instruction. */
	uint64_t calls;
	/*
	 * Calls whose begin or end is not in the trace. Their durations are not known.
	 */
	uint64_t open;
	uint64_t self[PTC_SUMS_AXES], total[PTC_SUMS_AXES];
	/* The known durations. */
	uint64_t known[PTC_SUMS_AXES], sum[PTC_SUMS_AXES], max[PTC_SUMS_AXES];
};

/* Returns the group of a row for an event. */
typedef uint32_t ptc_group_of(void *ctx, const struct ptc_call_event *event);

struct ptc_function_focus;

/* Initialize with zeros, except the first five members. */
struct ptc_function_sums {
	struct ptc_call_stream *stream; /* borrowed */
	/*
	 * The first item of a thread also has the instructions in front of the selected part
	 * (ptc_item.insns): leave them out.
	 */
	bool is_part;
	struct ptc_function_focus *focus; /* borrowed; NULL: all functions are equal */
	ptc_group_of *group_of;		  /* NULL: there are no groups */
	void *ctx;			  /* of group_of */
	struct ptc_function_sum *rows;	  /* owned */
	size_t nrows, rows_cap;
	struct ptc_number_index row_index;
	struct ptc_sums_pair *pairs; /* owned */
	size_t npairs, pairs_cap;
	struct ptc_number_index pair_index;
	struct ptc_sums_thread *threads; /* owned; by number of the thread */
	size_t nthreads, threads_cap;
	struct ptc_tid_counter insns; /* instructions that were summed; while no call is open */
	struct ptc_durations durations;
	struct ptc_function_sum all; /* of all rows, but without durations */
	uint64_t gaps;
	uint64_t left_out; /* instructions, because of is_part */
};

/* ptc_call_stream_opts.on_event; ctx is a struct ptc_function_sums. Returns PTC_E_NO_MEMORY. */
int ptc_function_sums_event(void *ctx, const struct ptc_call_event *event);

/*
 * Joins shards, without groups and focus: adds the calls of a part below the function that runs in
 * the thread. Returns PTC_E_NO_MEMORY.
 */
int ptc_function_sums_join(struct ptc_function_sums *s, const struct ptc_joined_tree *part);

/* Opens a call that is counted in such a part. Returns PTC_E_NO_MEMORY. */
int ptc_function_sums_open(struct ptc_function_sums *s, uint32_t thread, uint32_t function,
			   const uint64_t *since);

/* Adds @known durations of a function, whose calls are in a part. Returns the set for
 * ptc_durations_add_bucket; UINT64_MAX: no memory. */
uint64_t ptc_function_sums_known(struct ptc_function_sums *s, uint32_t function, unsigned int axis,
				 uint64_t known, uint64_t sum, uint64_t max);

/* Prepare ptc_function_sums_p99. No more events may come. */
void ptc_function_sums_finish(struct ptc_function_sums *s);

/* Returns the 99th percentile of the known durations of @row, at most 1/64 too high. */
uint64_t ptc_function_sums_p99(const struct ptc_function_sums *s,
			       const struct ptc_function_sum *row, unsigned int axis);

void ptc_function_sums_release(struct ptc_function_sums *s);

/* Add @more to *@sum, which stops at UINT64_MAX. */
void ptc_sums_add(uint64_t *sum, uint64_t more);

#endif
