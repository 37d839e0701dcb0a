/* SPDX-License-Identifier: MIT */
/*
 * The calls of a thread between two steps of a part (ptcap/part_calls.h) as a tree. The root stands
 * for the innermost function that is unknown. Each node is a function that was called in the part.
 */
#ifndef PTC_CLI_CALLS_PART_TREE_H
#define PTC_CLI_CALLS_PART_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/common/number_index.h"

enum { PTC_PART_INSNS, PTC_PART_TIME, PTC_PART_AXES };

struct ptc_part_node {
	uint32_t parent;   /* PTC_NO_NUMBER: the root */
	uint32_t function; /* its number in the stream; of the root: PTC_NO_NUMBER */
	uint64_t calls;	   /* entries */
	uint64_t self[PTC_PART_AXES];
	uint64_t total[PTC_PART_AXES]; /* of the calls that ended */
};

/* An open call. */
struct ptc_part_open {
	uint32_t node;
	uint64_t since[PTC_PART_AXES];
};

/* A tree of a part, joined to the whole: functions have the numbers of the joined stream. */
struct ptc_joined_tree {
	uint32_t thread;
	const struct ptc_part_node *nodes; /* the root stands for the innermost open function */
	size_t n;
	uint64_t first[PTC_PART_AXES], last[PTC_PART_AXES]; /* places of the thread in the whole */
};

/* Initialize with zeros. */
struct ptc_part_tree {
	struct ptc_part_node *nodes; /* owned; a parent comes before its children */
	size_t n, cap;
	struct ptc_number_index index;
	struct ptc_part_open *open; /* owned; the outermost first */
	size_t nopen, open_cap;
	/* Places of the first and the last event; n is 0 without events. A time may be PTC_NO_TIME.
	 */
	uint64_t first[PTC_PART_AXES], last[PTC_PART_AXES];
};

/*
 * Adds an entry or an end. *@ret_ended, if it is not NULL: the call that ended. Returns false if
 * out of memory.
 */
bool ptc_part_tree_event(struct ptc_part_tree *t, const struct ptc_call_event *e,
			 struct ptc_part_open *ret_ended);

/* Forgets all calls: a step. */
void ptc_part_tree_clear(struct ptc_part_tree *t);
void ptc_part_tree_release(struct ptc_part_tree *t);

#endif
