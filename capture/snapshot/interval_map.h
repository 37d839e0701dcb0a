/* SPDX-License-Identifier: MIT */
/*
 * Maps address ranges to the records that describe them. A new record replaces the covered parts of
 * older ones. A record that is covered completely is freed.
 */
#ifndef PTC_CAPTURE_SNAPSHOT_INTERVAL_MAP_H
#define PTC_CAPTURE_SNAPSHOT_INTERVAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_told; /* a kept record, reference-counted by the spans that show a part of it */

struct ptc_span {
	uint64_t start, end; /* not empty */
	uint64_t base;	     /* where the record begins; start is higher if the front was cut off */
	struct ptc_told *told;
};

struct ptc_spans {
	struct ptc_span *items; /* owned; ascending, disjoint */
	size_t n, cap;
};

/* An address range. */
struct ptc_range {
	uint64_t start, end;
};

/*
 * Allocates a record of time @time. Its @size bytes are for the caller to fill. The caller holds
 * the only reference. NULL: out of memory.
 */
struct ptc_told *ptc_told_new(uint64_t time, size_t size);
void *ptc_told_bytes(struct ptc_told *t);
void ptc_told_put(struct ptc_told *t);

/* Removes [start, end). False: out of memory, and nothing has changed. */
bool ptc_spans_cut(struct ptc_spans *s, uint64_t start, uint64_t end);
/* Puts @told at [start, end) and adds a reference to it. False: as for ptc_spans_cut. */
bool ptc_spans_put(struct ptc_spans *s, uint64_t start, uint64_t end, struct ptc_told *told);
/*
 * Of the records up to time @until, keeps only the parts within @ranges[0..n). The ranges are
 * ascending and disjoint. False: as for ptc_spans_cut.
 */
bool ptc_spans_only(struct ptc_spans *s, uint64_t until, const struct ptc_range *ranges, size_t n);
/* Copies @from to @to, which must be empty. False: out of memory, and @to stays empty. */
bool ptc_spans_copy(struct ptc_spans *to, const struct ptc_spans *from);
void ptc_spans_clear(struct ptc_spans *s);

#endif
