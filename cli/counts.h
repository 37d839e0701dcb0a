/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --counts`: how often each transfer was taken, each function called from each other
 * one, or each block of code or line of its source run. A place is what it is in its file, whatever
 * the address in which process: of what is mapped anew somewhere else, or where something else was,
 * the counts are right.
 */
#ifndef PTC_CLI_COUNTS_H
#define PTC_CLI_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"
#include "ptcap/decode.h"

enum ptc_counts_of {
	PTC_COUNTS_NOTHING,
	PTC_COUNTS_EDGES,    /* transfers */
	PTC_COUNTS_CALLS,    /* of the calls among them: from function to function */
	PTC_COUNTS_BLOCKS,   /* from where a transfer led to the next one, which ends it */
	PTC_COUNTS_LINES,    /* of the source: of each block all that have code in it, once */
	PTC_COUNTS_COVERAGE, /* the same, and those that have code and did not run, file by file */
	PTC_COUNTS_ALL
};

struct ptc_counts_line {
	uint32_t file; /* a name */
	uint32_t line;
};

struct ptc_counts_place {
	uint32_t file, symbol; /* names; 0: not known */
	uint64_t off;	       /* in the file; of none: the address */
	uint64_t symbol_off;
	uint64_t ip; /* where it was when it was first seen */
};

struct ptc_counts_entry {
	struct ptc_counts_place from, to; /* of a block: its first and its last instruction */
	uint64_t times;
	enum ptc_kind kind; /* of a block: of what ended it; by ASYNC: in front of `to` */
	/* Of a block, if its lines are wanted: none of a block of more than a MiB, or that is not
	 * in one file. What becomes a line is from.file, from.off. */
	size_t lines, nlines;
};

/*
 * What was found out about a pair of addresses, as long as nothing else was mapped. What came just
 * now is kept apart, one for each hash: to count that once more is all that most transfers take.
 */
struct ptc_counts_seen {
	uint64_t from, to;
	uint64_t code; /* the state of the code << 8, and the kind */
	uint32_t entry;
	uint32_t times; /* of one of just now: that are not its entry's yet; 0: there is none */
};

enum { PTC_COUNTS_RECENT_BITS = 16 };

/* By hash: numbers of things, from 1. */
struct ptc_counts_index {
	uint32_t *slots; /* owned; 0: free */
	unsigned int bits;
	size_t n;
};

/* Where each thread is, of blocks; 0: not known. */
struct ptc_counts_thread {
	int64_t who; /* a thread; below 0: that of a queue of which nobody knows whose it is */
	uint64_t at;
};

struct ptc_counts {
	enum ptc_counts_of of;
	struct ptc_decode *d; /* lent */
	struct ptc_names names;
	struct ptc_counts_entry *entries; /* owned */
	size_t n, cap;
	uint64_t times; /* of all */
	uint64_t gaps;
	struct ptc_counts_line *lines; /* owned */
	size_t nlines, lines_cap;
	uint64_t blocks, lineless; /* whose lines were wanted; those that have none */
	struct ptc_counts_index index;
	struct ptc_counts_seen *seen; /* owned */
	size_t nseen, seen_cap;
	struct ptc_counts_index seen_index;
	struct ptc_counts_seen *recent;	   /* owned; 1 << RECENT_BITS; NULL: none yet */
	struct ptc_counts_thread *threads; /* owned; ascending */
	size_t nthreads, threads_cap, newest;
	bool failed; /* out of memory */
};

/* ptc_sink.on_items, of all that there are; ctx is a struct ptc_counts, zeroed but for of and d. */
int ptc_counts_items(void *ctx, const struct ptc_item *items, size_t n);
void ptc_counts_release(struct ptc_counts *c);

/* Until then entries, and times, may lack what came just now. */
void ptc_counts_settle(struct ptc_counts *c);

/* Settled, and the entry that comes most often first; blocks whose lines are wanted have become
 * lines, those of COVERAGE all that there are, by file and line. Once. False: out of memory. */
bool ptc_counts_sort(struct ptc_counts *c);

struct ptc_line;

/* The first @most of what was sorted (0: all), as lines for people or of JSON (doc/json.md). False:
 * out of memory. */
bool ptc_counts_print(const struct ptc_counts *c, struct ptc_line *l, size_t most, bool json);

#endif
