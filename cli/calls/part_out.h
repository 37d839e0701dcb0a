/* SPDX-License-Identifier: MIT */
/*
 * Writes the calls of a shard for `ptcap sum`: JSON lines with the schema ptcap-calls-part
 * (doc/json.md). They have a tree of the calls between two steps (ptcap/part_calls.h), and the
 * steps.
 */
#ifndef PTC_CLI_CALLS_PART_OUT_H
#define PTC_CLI_CALLS_PART_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/calls/line_costs.h"
#include "cli/calls/part_tree.h"
#include "cli/common/selection_args.h"
#include "cli/decode/line_buffer.h"

struct ptc_part_costs;

struct ptc_part_thread {
	struct ptc_part_tree tree;
	char name[PTC_THREAD_NAME_MAX]; /* when the last function was entered */
};

/* Initialize with zeros, except the first seven members. */
struct ptc_part_out {
	struct ptc_line *line;	       /* borrowed */
	struct ptc_shard_choice shard; /* n is not 0 */
	const char *of;		       /* what the whole is: "folded", "report", ... */
	/* Called for each call that ended in the part. Returns false if out of memory. NULL: not
	 * wanted. */
	bool (*on_end)(void *ctx, uint32_t function, const uint64_t *since, const uint64_t *until);
	void *ctx;
	bool has_begins;	      /* functions have the source line of their begin */
	struct ptc_part_costs *costs; /* borrowed; with has_begins. NULL: the part has trees */
	struct ptc_call_stream stream;
	struct ptc_source_line *begins; /* owned; with has_begins, by the stream's numbers */
	size_t nbegins, begins_cap;
	struct ptc_part_thread *threads; /* owned; in the order of tids */
	size_t cap;
	struct ptc_idmap tids;
	size_t nprinted; /* functions of the stream that were printed */
	uint64_t nlines; /* lines behind the head */
	uint64_t insns;	 /* of all items */
};

/*
 * Prints the head, with the members of @options, and takes ownership of them. @o must not move.
 * Returns false if out of memory.
 */
bool ptc_part_out_begin(struct ptc_part_out *o, struct ptc_decode *d, json_t *options);

/* ptc_sink.on_items; ctx is a struct ptc_part_out. Returns PTC_E_NO_MEMORY. */
int ptc_part_out_items(void *ctx, const struct ptc_item *items, size_t n);

/* Prints the last steps, after all items. Returns false if out of memory. */
bool ptc_part_out_steps(struct ptc_part_out *o);

/* Prints @line, and takes ownership of it. NULL stands for a failed allocation. Returns false then.
 */
bool ptc_part_out_line(struct ptc_part_out *o, json_t *line);

/* Prints a function, which gets the next number of the part. Returns false if out of memory. */
bool ptc_part_out_function(struct ptc_part_out *o, const struct ptc_names *names,
			   const struct ptc_function *f, struct ptc_source_line begin);

/* Prints the functions of the stream that are not printed yet. Returns false if out of memory. */
bool ptc_part_out_new_functions(struct ptc_part_out *o);

/*
 * Gets the number in the part of the function at @ip in the process of @it. Returns false if out of
 * memory. To be called inside on_items.
 */
bool ptc_part_out_number(struct ptc_part_out *o, const struct ptc_item *it, uint64_t ip,
			 uint32_t *ret);

/* Returns an integer, or -1 for a time that is not known. NULL: out of memory. */
json_t *ptc_part_time(uint64_t time);

/* Prints the last line. Returns false if out of memory. */
bool ptc_part_out_end(struct ptc_part_out *o);

void ptc_part_out_release(struct ptc_part_out *o);

#endif
