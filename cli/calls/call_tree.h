/* SPDX-License-Identifier: MIT */
/*
 * All stacks of functions of a recording as a tree: a node is a function with its callers. Each
 * node has the instructions and the time that its function spent itself.
 */
#ifndef PTC_CLI_CALLS_CALL_TREE_H
#define PTC_CLI_CALLS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/calls/part_tree.h"
#include "cli/common/number_index.h"

enum {
	PTC_TREE_NODES_MAX = 1 << 22, /* 200 MB */
	PTC_TREE_DEPTH = 1000,	      /* default */
	PTC_TREE_DEPTH_MAX = 1 << 16,
};

struct ptc_tree_node {
	uint32_t parent;   /* PTC_NO_NUMBER: this is a thread */
	uint32_t function; /* its number in the stream; of a thread: the thread's number */
	uint32_t recent;   /* the child that was entered last; PTC_NO_NUMBER: none */
	uint32_t depth;	   /* functions in the stack; of a thread: 0 */
	uint64_t insns, ns;
};

struct ptc_call_tree {
	uint32_t depth_max; /* functions in a stack; the callee of a deeper one counts for it */
	size_t nodes_max;   /* PTC_TREE_NODES_MAX, or less in tests */
	struct ptc_tree_node *nodes; /* owned; a parent comes before its children */
	size_t n, cap;
	struct ptc_number_index index;
	struct ptc_tree_thread *threads; /* owned; by the stream's numbers */
	size_t nthreads, threads_cap;
	uint64_t cut; /* entries into functions below depth_max */
	bool full;    /* there are more than nodes_max nodes */
};

/* Initialize @t. @depth_max: from 1 to PTC_TREE_DEPTH_MAX. */
void ptc_call_tree_init(struct ptc_call_tree *t, uint32_t depth_max);
void ptc_call_tree_release(struct ptc_call_tree *t);

/*
 * Add an event of a call stream, inside its on_event. Returns 0, PTC_E_NO_MEMORY, or PTC_E_LIMIT
 * (and sets full): the tree has too many nodes.
 */
int ptc_call_tree_event(struct ptc_call_tree *t, const struct ptc_call_event *e);

/*
 * Add calls of a part below the function that runs in the thread, which has had an event. Returns
 * as ptc_call_tree_event.
 */
int ptc_call_tree_join(struct ptc_call_tree *t, const struct ptc_joined_tree *part);

/* Enter a function of such a part, whose entry is counted, and which is still open. */
int ptc_call_tree_open(struct ptc_call_tree *t, uint32_t thread, uint32_t function);

/*
 * Get the path of node @number: the thread's node, then the functions' nodes, the outermost first.
 * @path has space for depth_max + 1 numbers. Returns their number.
 */
size_t ptc_call_tree_path(const struct ptc_call_tree *t, uint32_t number, uint32_t *path);

#endif
