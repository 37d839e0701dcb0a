/* SPDX-License-Identifier: MIT */
/* The costs of lines and calls in callgrind's format, added over files by their names. */
#ifndef PTC_CLI_SUM_CALLGRIND_TABLE_H
#define PTC_CLI_SUM_CALLGRIND_TABLE_H

#include "cli/common/number_index.h"
#include "cli/common/string_pool.h"

struct ptc_line;

enum { PTC_CALLGRIND_EVENTS = 8 }; /* limit of a file */

/* A line of a function, and a call there. Names are numbers. */
struct ptc_callgrind_place {
	uint32_t object, source, function; /* the function, with the source file of its begin */
	uint32_t file;			   /* the source file of the line */
	uint64_t line;
	/* The called function, and the line of its begin. callee_function 0: no call */
	uint32_t callee_object, callee_source, callee_function;
	uint64_t callee_line;
};

struct ptc_callgrind_row {
	struct ptc_callgrind_place place;
	uint64_t calls;
	uint64_t costs[PTC_CALLGRIND_EVENTS]; /* of a call: with the called function */
};

/* Initialize with zeros. */
struct ptc_callgrind_table {
	struct ptc_names names;
	struct ptc_callgrind_row *rows; /* owned */
	size_t n, cap;
	struct ptc_number_index index;
	size_t nevents;
	uint64_t totals[PTC_CALLGRIND_EVENTS]; /* without calls */
};

/* Adds a row, whose names are numbers in t->names. Returns false if out of memory. */
bool ptc_callgrind_table_add(struct ptc_callgrind_table *t, const struct ptc_callgrind_row *row);

/*
 * Prints the file, once. @command: the text behind "cmd:"; NULL: none. @events: the names of the
 * events. Returns false if out of memory.
 */
bool ptc_callgrind_table_print(struct ptc_callgrind_table *t, const char *command,
			       const char *events, struct ptc_line *l);
void ptc_callgrind_table_release(struct ptc_callgrind_table *t);

#endif
