/* SPDX-License-Identifier: MIT */
/*
 * Counts of branches, calls, blocks or source lines, added over files. A place in code is
 * identified by build-id and file offset, or else by file name and offset, or else by function and
 * offset, or else by its address (doc/adr/0038).
 */
#ifndef PTC_CLI_SUM_COUNT_TABLE_H
#define PTC_CLI_SUM_COUNT_TABLE_H

#include "cli/common/number_index.h"
#include "cli/decode/branch_counts.h"

struct ptc_count_key;

/* Initialize with zeros. */
struct ptc_count_table {
	struct ptc_counts counts;   /* names, entries and the sums of the head */
	struct ptc_count_key *keys; /* owned; of counts.entries */
	size_t nkeys, keys_cap;
	struct ptc_number_index index;
};

/*
 * Adds e->times to the entry of the same places and kind, which may be new. The names of @e are
 * numbers in counts.names. Of equal places the entry gets the lowest address, and the first
 * function and file in the order of their texts. So the order of calls has no effect. Returns the
 * entry; NULL: out of memory.
 */
struct ptc_counts_entry *ptc_count_table_add(struct ptc_count_table *t,
					     const struct ptc_counts_entry *e);
/* The same for a source line. */
struct ptc_counts_entry *ptc_count_table_add_line(struct ptc_count_table *t, const char *file,
						  uint64_t line, uint64_t times);
void ptc_count_table_release(struct ptc_count_table *t);

#endif
