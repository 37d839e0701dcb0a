/* SPDX-License-Identifier: MIT */
/* `ptcap report`: its options, the sums of a recording in the order of the output, the printers. */
#ifndef PTC_CLI_REPORT_REPORT_H
#define PTC_CLI_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/raw_args.h"
#include "cli/common/sandbox.h"
#include "cli/common/selection_args.h"
#include "cli/decode/line_buffer.h"
#include "cli/report/function_focus.h"
#include "cli/report/function_sums.h"
#include "ptcap/decode.h"

enum ptc_report_sort {
	PTC_SORT_SELF,
	PTC_SORT_TOTAL,
	PTC_SORT_CALLS,
	PTC_SORT_MEAN,
	PTC_SORT_MAX,
	PTC_SORT_NAME,
	PTC_SORT_KEYS
};

/* What the functions are grouped by. */
enum ptc_report_by { PTC_BY_NOTHING, PTC_BY_THREAD, PTC_BY_PROCESS, PTC_BY_FILE, PTC_BY_COUNT };

/* "function", "thread", "process", "file" */
extern const char *const ptc_report_by_names[PTC_BY_COUNT];

enum ptc_report_format { PTC_REPORT_TEXT, PTC_REPORT_JSON, PTC_REPORT_CSV };

struct ptc_report_args {
	const char *input;	       /* NULL: perf.data */
	const char *pt;		       /* raw packets; NULL: a recording */
	struct ptc_raw_list raw;       /* owned */
	struct ptc_id_list tids, cpus; /* owned */
	const char *time_text;	       /* --time, unparsed; NULL: all */
	struct ptc_time_choice time;
	struct ptc_decode_opts opts;
	struct ptc_code_opts code;
	const char *debuginfod; /* NULL: use the environment */
	struct ptc_sandbox sandbox;
	bool inlines, strict, no_pager, full_names;
	enum ptc_report_format format;
	enum ptc_report_by by;
	enum ptc_report_sort sort;
	enum ptc_axis axis;
	uint64_t top;		       /* functions to print; 0: all */
	const char *function;	       /* only this one, with callers and callees; NULL: all */
	uint64_t slowest;	       /* calls of the function to print; 0: none */
	struct ptc_shard_choice shard; /* n 0: all of the trace */
};

/* Returns -1 to continue, or an exit code. */
int ptc_report_args_parse(struct ptc_report_args *a, int argc, char **argv);
void ptc_report_args_release(struct ptc_report_args *a);

/* The rows of a group, or all rows. */
struct ptc_report_group {
	size_t first, n;	     /* in ptc_report.row */
	struct ptc_function_sum sum; /* only group, calls, open and self */
	uint64_t key;		     /* of the order */
};

struct ptc_report {
	const struct ptc_report_args *args; /* borrowed */
	struct ptc_decode *d;		    /* borrowed; NULL: joined shards */
	struct ptc_call_stream stream;
	struct ptc_function_sums sums;
	struct ptc_function_focus focus;     /* if args.function */
	uint64_t insns;			     /* all instructions, also outside of functions */
	bool has_time;			     /* the times are a measure of the program */
	unsigned int axis;		     /* that of text, and of the order */
	const struct ptc_function_sum **row; /* owned; sums.nrows rows in the order of the output */
	struct ptc_report_group *groups;     /* owned; in the order of the output */
	size_t ngroups;
	size_t width;	       /* columns of text; 0: print whole names */
	struct ptc_line *line; /* borrowed */
};

/* Choose the axis, before decoding. */
void ptc_report_choose_axis(struct ptc_report *r);

/* ptc_group_of; ctx is a struct ptc_report. Returns the number of a thread, a pid, or a file. */
uint32_t ptc_report_group_of(void *ctx, const struct ptc_call_event *event);

/* Sort the rows, and form their groups. Returns false if out of memory. */
bool ptc_report_sort_rows(struct ptc_report *r);
void ptc_report_release_rows(struct ptc_report *r);

/* Returns the number of rows of @g to print. */
size_t ptc_report_shown(const struct ptc_report *r, const struct ptc_report_group *g);

/* Returns the mean of the known durations of @row, rounded down; 0: none is known. */
uint64_t ptc_report_mean(const struct ptc_function_sum *row, unsigned int axis);

/* Returns the name of a function, in @buf or borrowed. To be escaped by the caller. */
const char *ptc_report_name(const struct ptc_report *r, uint32_t function, char *buf, size_t size);

/* Returns the thread of a slow call. */
const struct ptc_call_thread *ptc_report_thread(const struct ptc_report *r, uint32_t number);

/* Text: the name of a function in the columns behind the first @taken. */
void ptc_report_put_name(const struct ptc_report *r, uint32_t function, size_t taken);

/* Text: @s, of which at most the last @room columns; with whole names all of it. */
void ptc_report_put_tail(const struct ptc_report *r, const char *s, size_t room);

/* Text: an amount on the axis, or (@is_count) a number, in eight columns. */
void ptc_report_put_amount(const struct ptc_report *r, uint64_t n, bool is_count);

/* Text: @part of @whole in percent, in six columns. */
void ptc_report_put_share(const struct ptc_report *r, uint64_t part, uint64_t whole);

/* Text: the row of a function. */
void ptc_report_put_row(const struct ptc_report *r, const struct ptc_function_sum *row);

/* JSON: a number, at most INT64_MAX; a file, or null. */
json_t *ptc_report_number(uint64_t n);
json_t *ptc_report_file(const struct ptc_report *r, uint32_t file);
/* JSON: a function as a line. @group: the number of its group; SIZE_MAX: there are no groups.
 * Returns false if out of memory. */
bool ptc_report_put_function(const struct ptc_report *r, const struct ptc_function_sum *row,
			     size_t group);

/* CSV: a text in quotes, without control characters. Returns false if out of memory. */
bool ptc_report_put_quoted(struct ptc_line *l, const char *s);

/* CSV: a comma and @n. */
void ptc_report_put_field(struct ptc_line *l, uint64_t n);

/* Print the function of args.function with its callers, callees and slowest calls. */
void ptc_report_focus_text(const struct ptc_report *r);
bool ptc_report_focus_json(const struct ptc_report *r);
/* CSV: callers and callees, or with args.slowest the slowest calls. */
bool ptc_report_focus_csv(const struct ptc_report *r);

/* Print the report. Return false if out of memory. */
bool ptc_report_text(const struct ptc_report *r);
bool ptc_report_json(const struct ptc_report *r);
bool ptc_report_csv(const struct ptc_report *r);

#endif
