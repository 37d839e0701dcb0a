/* SPDX-License-Identifier: MIT */
/*
 * One function of a report: its callers, its callees and its slowest calls. A name may belong to
 * several functions, for example in two files.
 */
#ifndef PTC_CLI_REPORT_FUNCTION_FOCUS_H
#define PTC_CLI_REPORT_FUNCTION_FOCUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/common/number_index.h"
#include "cli/report/slow_calls.h"

/* Calls of a function by another one, of which at least one has the name. */
struct ptc_call_edge {
	uint32_t caller; /* number of the call stream; PTC_NO_NUMBER: unknown */
	uint32_t callee;
	uint64_t calls;
	/* Of the callee in these calls. Total: as in struct ptc_function_sum. */
	uint64_t self[2], total[2];
	uint64_t key; /* of the order */
};

enum { PTC_FOCUS_UNKNOWN, PTC_FOCUS_HAS_NAME, PTC_FOCUS_OTHER };

/* Initialize with zeros, except the first four members and slowest.max. */
struct ptc_function_focus {
	struct ptc_call_stream *stream; /* borrowed */
	const char *name;		/* borrowed */
	unsigned int axis;		/* of the order: an index of ptc_slow_call.at */
	char *plain;			/* owned; the name demangled; NULL: it is not mangled */
	struct ptc_slow_calls slowest;
	unsigned char *known; /* owned; by number of a function: PTC_FOCUS_* */
	size_t nknown, known_cap;
	struct ptc_call_edge *edges; /* owned */
	size_t nedges, edges_cap;
	struct ptc_number_index index;
	bool found; /* a function with the name was called, or ran */
	/* The most recent result of ptc_function_focus_line. */
	uint64_t line_from, line_state;
	const char *line_file;
	int line_number;
};

/* Returns whether function @number, which was called, has the name. */
static inline bool ptc_function_focus_knows(const struct ptc_function_focus *f, uint32_t number)
{
	return number < f->nknown && f->known[number] == PTC_FOCUS_HAS_NAME;
}

/* Returns whether function @number has the name. */
bool ptc_function_focus_has(struct ptc_function_focus *f, uint32_t number);

/*
 * Find the edge of a call. *@ret: its index + 1; 0: neither function has the name. Returns false if
 * out of memory.
 */
bool ptc_function_focus_edge(struct ptc_function_focus *f, uint32_t caller, uint32_t callee,
			     uint32_t *ret);

/*
 * Get the source line of a call at address @from, as the code is at its @entry. *@ret_file:
 * borrowed from the decoder; NULL: the line is not known, or not wanted.
 */
void ptc_function_focus_line(struct ptc_function_focus *f, const struct ptc_item *entry,
			     uint64_t from, const char **ret_file, int *ret_line);

/*
 * Offer a complete call of a function with the name. A call whose begin has no place on the axis is
 * left out. Sets took. Returns false if out of memory.
 */
bool ptc_function_focus_offer(struct ptc_function_focus *f, struct ptc_slow_call *call);

/* Sort edges by total on the axis, and the slowest calls. Edges are found no more. */
void ptc_function_focus_sort(struct ptc_function_focus *f);

void ptc_function_focus_release(struct ptc_function_focus *f);

#endif
