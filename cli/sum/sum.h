/* SPDX-License-Identifier: MIT */
/*
 * `ptcap sum`: adds files that other commands of ptcap wrote. Each format has an adder, which takes
 * the lines of all files and prints one sum (doc/adr/0038).
 */
#ifndef PTC_CLI_SUM_SUM_H
#define PTC_CLI_SUM_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/sum/sum_line.h"

struct ptc_line;

/* How to print a sum. */
struct ptc_sum_how {
	bool text;     /* a table for people instead of the format of the files */
	uint64_t most; /* print at most this many entries; 0: all */
	size_t width;  /* columns of a table; 0: print whole names */
	struct ptc_line *line;
};

struct ptc_sum_format {
	const char *name; /* for messages */
	bool is_json;
	bool has_table; /* has_table: print takes how.text and how.most */
	bool may_be_empty;
	size_t size; /* bytes of the adder's state, which begins zeroed */
	/* Adds a line. */
	int (*add_line)(void *state, const struct ptc_sum_line *l, struct ptc_err *err);
	/* Checks at the end of a file that it is whole. @l: its last line; with line number 0: it
	 * is empty. */
	int (*end_file)(void *state, const struct ptc_sum_line *l, struct ptc_err *err);
	/* Checks at the end of all files that none is missing. NULL: any files make a sum. */
	int (*finish)(void *state, struct ptc_err *err);
	/* Returns whether the sum is no text. NULL: it is text. */
	bool (*is_binary)(const void *state);
	/* Prints the sum, once. Returns false if out of memory. */
	bool (*print)(void *state, const struct ptc_sum_how *how);
	void (*release)(void *state);
};

extern const struct ptc_sum_format ptc_sum_counts_format, ptc_sum_coverage_format,
	ptc_sum_stats_format, ptc_sum_report_format, ptc_sum_crashes_format, ptc_sum_lcov_format,
	ptc_sum_folded_format, ptc_sum_callgrind_format, ptc_sum_bolt_format, ptc_sum_spans_format,
	ptc_sum_parts_format;

/* Returns the format of a file with the first line @text. NULL: not known. */
const struct ptc_sum_format *ptc_sum_recognise(const char *text);

/* The sum of all files. Initialize with zeros. */
struct ptc_sum {
	const struct ptc_sum_format *format; /* NULL: no file had a line */
	const char *format_of;		     /* the file that decided the format; borrowed */
	void *state;			     /* owned */
};

/* Adds the lines that @fd, the file @name, has from its current offset on. */
int ptc_sum_add_file(struct ptc_sum *s, int fd, const char *name, struct ptc_err *err);
/* Checks that no file is missing. To be called once, if a file had a line, before print. */
int ptc_sum_finish(struct ptc_sum *s, struct ptc_err *err);

void ptc_sum_release(struct ptc_sum *s);

#endif
