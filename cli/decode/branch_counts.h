/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --counts`: executions of each branch, each call between two functions, each block
 * of code, or each source line. Locations are identified by file and offset, not by address. So
 * counts are correct across processes, and when code is mapped again elsewhere.
 */
#ifndef PTC_CLI_DECODE_BRANCH_COUNTS_H
#define PTC_CLI_DECODE_BRANCH_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/code_parts.h"
#include "cli/common/number_index.h"
#include "cli/common/string_pool.h"
#include "ptcap/decode.h"

enum ptc_counts_of {
	PTC_COUNTS_NOTHING,
	PTC_COUNTS_EDGES,  /* branches */
	PTC_COUNTS_CALLS,  /* calls, from function to function */
	PTC_COUNTS_BLOCKS, /* blocks: from the target of a branch to the next branch */
	/* Source lines: those with code in an executed block, each once per block. */
	PTC_COUNTS_LINES,
	PTC_COUNTS_COVERAGE, /* as LINES, with lines that have code but did not run, file by file */
	PTC_COUNTS_ALL
};

struct ptc_counts_line {
	uint32_t file; /* number of a name */
	uint32_t line;
};

struct ptc_counts_place {
	uint32_t file, symbol; /* numbers of names; 0: not known */
	uint32_t id;	       /* number of the file's build-id, a name in hex; 0: not known */
	uint64_t off;	       /* offset in the file; without a file the address */
	uint64_t symbol_off;
	uint64_t ip; /* address when first seen */
};

struct ptc_counts_entry {
	struct ptc_counts_place from, to; /* block: first and last instruction */
	uint64_t times;
	enum ptc_kind kind; /* block: kind of the branch that ended it; ASYNC: before `to` */
	/*
	 * Block: its source lines, if requested. None for a block larger than 1 MiB, or not inside
	 * one file. A line's entry uses from.file and from.off. With on_block: as it set them.
	 */
	size_t lines, nlines;
};

/*
 * Cached result for a pair of addresses, valid while the mappings do not change. The recent table
 * has one entry per hash value. Counting a recent pair again only increments a counter.
 */
struct ptc_counts_seen {
	uint64_t from, to;
	uint64_t code; /* number of the code << 8 | kind */
	uint32_t entry;
	uint32_t times; /* recent table: not yet added to the entry; 0: empty */
};

enum { PTC_COUNTS_RECENT_BITS = 16 };

/* Current position of each thread, for blocks; 0: not known. */
struct ptc_counts_thread {
	int64_t who; /* a tid; below 0: the unknown thread of a queue */
	uint64_t at;
};

struct ptc_counts {
	enum ptc_counts_of of;
	struct ptc_decode *d; /* borrowed */
	struct ptc_code_parts code;
	struct ptc_code_part part; /* the last with both ends of a pair */
	/*
	 * BLOCKS: called for each new block, in the process of @it. Returns false if out of memory.
	 * NULL: not wanted.
	 */
	bool (*on_block)(void *ctx, const struct ptc_item *it, struct ptc_counts_entry *block);
	void *ctx; /* of on_block */
	struct ptc_names names;
	struct ptc_counts_entry *entries; /* owned */
	size_t n, cap;
	uint64_t times; /* sum over all entries */
	uint64_t gaps;
	struct ptc_counts_line *lines; /* owned */
	size_t nlines, lines_cap;
	/* Blocks: with source lines requested; lineless: without any line. */
	uint64_t blocks, lineless;
	struct ptc_number_index index;
	struct ptc_counts_seen *seen; /* owned */
	size_t nseen, seen_cap;
	struct ptc_number_index seen_index;
	/* Owned; 1 << RECENT_BITS entries; NULL: not allocated yet. */
	struct ptc_counts_seen *recent;
	struct ptc_counts_thread *threads; /* owned; ascending */
	size_t nthreads, threads_cap, newest;
	bool failed; /* out of memory */
};

/* ptc_sink.on_items for all items. ctx is a struct ptc_counts, zeroed except of and d. */
int ptc_counts_items(void *ctx, const struct ptc_item *items, size_t n);
/*
 * Takes items in front of a shard, which another shard counts. The first block of a thread begins
 * at the target of its last branch there. Returns false if out of memory.
 */
bool ptc_counts_before(struct ptc_counts *c, const struct ptc_item *items, size_t n);
void ptc_counts_release(struct ptc_counts *c);

/* Add the recent counters to entries and times, which are incomplete before. */
void ptc_counts_settle(struct ptc_counts *c);

/*
 * Settle, and sort by count. If lines are requested, blocks are converted to lines. COVERAGE: all
 * lines, sorted by file and line. To be called once. Returns false if out of memory.
 */
bool ptc_counts_sort(struct ptc_counts *c);

/*
 * Sort the entries, as ptc_counts_sort does at its end, for counts that are already settled.
 */
void ptc_counts_order(struct ptc_counts *c);

struct ptc_line;

/*
 * Print the first @most sorted entries (0: all), as text or JSON (doc/json.md). @width: columns to
 * which the text's names are shortened; 0: whole names. Returns false if out of memory.
 */
bool ptc_counts_print(const struct ptc_counts *c, struct ptc_line *l, size_t most, size_t width,
		      bool json);

#endif
