/* SPDX-License-Identifier: MIT */
/*
 * What is at which addresses, by the records that said so: a later one hides what it covers of
 * those before it, and one that is covered whole is forgotten.
 */
#ifndef PTC_CAPTURE_SPAN_H
#define PTC_CAPTURE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_told; /* a record that is kept; counted by the spans that show a part of it */

struct ptc_span {
	uint64_t start, end; /* not empty */
	uint64_t base;	     /* where the record says that it begins */
	struct ptc_told *told;
};

struct ptc_spans {
	struct ptc_span *items; /* owned; ascending, disjoint */
	size_t n, cap;
};

/* Where something is. */
struct ptc_range {
	uint64_t start, end;
};

/* @size bytes of it are the caller's to fill; said at @time. One owner; NULL: out of memory. */
struct ptc_told *ptc_told_new(uint64_t time, size_t size);
void *ptc_told_bytes(struct ptc_told *t);
void ptc_told_put(struct ptc_told *t);

/* Nothing is in [start, end) any more. False: out of memory, and nothing has changed. */
bool ptc_spans_cut(struct ptc_spans *s, uint64_t start, uint64_t end);
/* @told is in [start, end) now, and has one owner more. False as above. */
bool ptc_spans_put(struct ptc_spans *s, uint64_t start, uint64_t end, struct ptc_told *told);
/*
 * Of what was said up to @until only what is in one of @ranges[0..n) stays; they are ascending and
 * disjoint. False as above.
 */
bool ptc_spans_only(struct ptc_spans *s, uint64_t until, const struct ptc_range *ranges, size_t n);
/* @to, empty, becomes as @from. False: out of memory, and it is empty. */
bool ptc_spans_copy(struct ptc_spans *to, const struct ptc_spans *from);
void ptc_spans_clear(struct ptc_spans *s);

#endif
