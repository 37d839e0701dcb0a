/* SPDX-License-Identifier: MIT */
/*
 * The branches and the stacks of one recording, searched in the trace of another run. The table
 * holds the first recording only. So its size does not depend on the length of the trace.
 *
 * Ends of branches are places: numbers that are equal in both runs (decode/lbr/flow_places.h).
 */
#ifndef PTC_DECODE_LBR_FLOW_TABLE_H
#define PTC_DECODE_LBR_FLOW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "decode/lbr/align.h"
#include "decode/lbr/branch_filter.h"

/* Limits: at most about 200 MiB. */
enum {
	PTC_FLOW_EDGES = 1 << 20,   /* different branches */
	PTC_FLOW_STACKS = 1 << 20,  /* different stacks */
	PTC_FLOW_ENTRIES = 1 << 23, /* entries of different stacks */
	PTC_FLOW_FILTERS = 4,
	PTC_FLOW_THREADS = 1024, /* threads of the trace that are followed at once */
};

/* A branch of the first recording. Number 0 is none of them. */
struct ptc_flow_edge {
	uint64_t from, to; /* places */
	uint64_t lengths;  /* bit n % 64: it is the newest branch of a stack of n entries */
	bool seen;	   /* the trace has it */
};

/* A stack of the first recording; equal stacks are one. */
struct ptc_flow_stack {
	uint64_t hash;
	uint32_t first; /* index of its oldest entry in numbers */
	uint16_t n;
	uint8_t filter;
	bool found; /* the trace has its branches one after the other */
};

/* A hash table of indexes. */
struct ptc_flow_slots {
	uint32_t *items; /* owned; index + 1; 0: free */
	size_t cap;	 /* 0 or a power of two */
};

/* The newest branches of a thread that a filter passes. */
struct ptc_flow_window {
	uint32_t numbers[PTC_ALIGN_ENTRIES]; /* a ring buffer */
	uint64_t sums[PTC_ALIGN_ENTRIES];    /* hash of all branches up to each */
	uint64_t sum, n;		     /* up to the newest; how many were fed */
	uint64_t known;			     /* newest branches that all have a number */
};

/* Starts zeroed. */
struct ptc_flow_table {
	struct ptc_flow_edge *edges; /* owned */
	size_t nedges, edges_cap;
	struct ptc_flow_slots edge_slots;
	struct ptc_flow_stack *stacks; /* owned */
	size_t nstacks, stacks_cap;
	struct ptc_flow_slots stack_slots;
	uint32_t *numbers; /* owned; of the entries of all stacks, oldest first */
	size_t nnumbers, numbers_cap;
	struct ptc_wants filters[PTC_FLOW_FILTERS];
	size_t nfilters;
	size_t longest; /* stack */
	bool has_length[PTC_FLOW_FILTERS][PTC_ALIGN_ENTRIES + 1];
	struct ptc_flow_window *windows; /* owned; nfilters for each thread */
	struct ptc_idmap threads;
	size_t nthreads;
	uint64_t powers[PTC_ALIGN_ENTRIES + 1]; /* set with the first window */
	bool limited;				/* some edges or stacks did not fit */
	bool many_threads;			/* some threads of the trace were not followed */
};

void ptc_flow_table_release(struct ptc_flow_table *t);

/* Returns the number of filter @w, which may be new. -1: there are too many. */
int ptc_flow_filter(struct ptc_flow_table *t, const struct ptc_wants *w);

/*
 * Add a branch. *@ret_number: its number; 0: it does not fit, or an end is no place. Returns false
 * if out of memory.
 */
bool ptc_flow_add_edge(struct ptc_flow_table *t, uint64_t from, uint64_t to, uint32_t *ret_number);

/* Returns the edge; NULL: it was not added. */
const struct ptc_flow_edge *ptc_flow_find_edge(const struct ptc_flow_table *t, uint64_t from,
					       uint64_t to, uint32_t *ret_number);

/*
 * Add the stack of the @n edges @numbers, oldest first, fewer than PTC_ALIGN_ENTRIES. All stacks
 * must be added before the first branch is fed. Returns false if out of memory. A stack that does
 * not fit is left out.
 */
bool ptc_flow_add_stack(struct ptc_flow_table *t, int filter, const uint32_t *numbers, size_t n);

/* Returns the stack; NULL: it was not added. */
const struct ptc_flow_stack *ptc_flow_find_stack(const struct ptc_flow_table *t, int filter,
						 const uint32_t *numbers, size_t n);

/*
 * Feed the next branch of thread @tid of the trace. @step: its addresses and kind, for the filters.
 * @from, @to: its places. Returns false if out of memory.
 */
bool ptc_flow_feed(struct ptc_flow_table *t, int32_t tid, const struct ptc_step *step,
		   uint64_t from, uint64_t to);

/* The branches of thread @tid that follow belong to another thread with this number. */
void ptc_flow_cut_thread(struct ptc_flow_table *t, int32_t tid);

/* The branches that follow are not connected with the earlier ones, for any thread. */
void ptc_flow_cut(struct ptc_flow_table *t);

#endif
