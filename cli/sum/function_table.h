/* SPDX-License-Identifier: MIT */
/* The functions of reports, added over files. */
#ifndef PTC_CLI_SUM_FUNCTION_TABLE_H
#define PTC_CLI_SUM_FUNCTION_TABLE_H

#include <stdbool.h>

#include "cli/common/number_index.h"
#include "cli/common/string_pool.h"

struct ptc_line;

enum { PTC_FUNCTION_INSNS, PTC_FUNCTION_TIME, PTC_FUNCTION_AXES };

/* The sums of a function on an axis. */
struct ptc_function_axis {
	bool there; /* the file has this axis */
	uint64_t self, total;
	uint64_t known, durations, max; /* the known durations: their number, sum and maximum */
	/* The 99th percentile is known while all known durations are of one file. */
	uint64_t p99;
	bool has_p99;
};

struct ptc_function_row {
	uint32_t name, file, id; /* numbers of names; 0: not known */
	uint64_t off;
	bool inlined;
	uint64_t calls, open;
	struct ptc_function_axis axes[PTC_FUNCTION_AXES];
};

/* The first line of a report. */
struct ptc_function_head {
	uint64_t instructions, threads, gaps, time;
	bool has_time;
	const char *axis, *sort; /* borrowed */
};

struct ptc_function_totals {
	uint64_t self, calls, open; /* self: in instructions */
};

/* Initialize with zeros. */
struct ptc_function_table {
	struct ptc_names names;
	struct ptc_function_row *rows; /* owned */
	size_t n, cap;
	struct ptc_number_index index;
	size_t nheads;
	struct ptc_function_head head; /* the sum; has no axis and no sort */
	struct ptc_function_totals totals;
	uint32_t axis, sort; /* numbers of names; 0: the files differ */
	bool timeless;	     /* a file has no times */
};

/* Adds a head. Returns false if out of memory. */
bool ptc_function_table_head(struct ptc_function_table *t, const struct ptc_function_head *head);
/* Adds a row. @file and @id may be NULL. Returns false if out of memory. */
bool ptc_function_table_add(struct ptc_function_table *t, const char *name, const char *file,
			    const char *id, struct ptc_function_row *row);
/* Prints the sum as JSON, once. Returns false if out of memory. */
bool ptc_function_table_print(struct ptc_function_table *t, struct ptc_line *l);
void ptc_function_table_release(struct ptc_function_table *t);

#endif
