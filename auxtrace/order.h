/* SPDX-License-Identifier: MIT */
/*
 * A file's records in the order of their times.
 *
 * The kernel's records come from several rings, drained one after another. The
 * recorder promises, with FINISHED_ROUND, that nothing behind such a mark is
 * older than what was in front of the one before it. So at each mark what is
 * not younger than the youngest record in front of the last one goes out, as in
 * perf. Equal times keep the order of the file.
 *
 * Records without a time, or with time 0 or ~0 (made up by perf), and perf's
 * own records have no place in this order: they come when they are met.
 *
 * Memory: 16 bytes a waiting record, PTC_ORDER_MAX of them at most. Where more
 * would have to wait the oldest goes out instead, mark or not.
 */
#ifndef PTC_AUXTRACE_ORDER_H
#define PTC_AUXTRACE_ORDER_H

#include <stdbool.h>

#include "auxtrace/reader.h"

enum { PTC_ORDER_MAX = 1 << 22 }; /* 64 MiB */

struct ptc_order_opts {
	/*
	 * Do not believe in FINISHED_ROUND: sort as many records as can wait,
	 * which is the whole file if it has no more.
	 */
	bool no_rounds;
	size_t max; /* records that wait; 0: PTC_ORDER_MAX */
};

struct ptc_order_stats {
	uint64_t records; /* given so far */
	/* Given behind a younger one: the file broke its promise, or too many had to wait. */
	uint64_t unordered;
	/* Kernel's records without a time given behind one with a time. */
	uint64_t late;
	size_t waiting_max; /* the most that ever waited */
};

struct ptc_order;

/* @f is lent and must outlive the result. @opts NULL: all 0. */
int ptc_order_new(const struct ptc_file *f, const struct ptc_order_opts *opts,
		  struct ptc_order **ret, struct ptc_err *err);
void ptc_order_free(struct ptc_order *o);

/*
 * The next record, lent from the file, and its time in ns (0: none). Returns 1,
 * 0 at the end, or a negative code at a damaged record, as ptc_file_next; what
 * waited is then not given.
 */
int ptc_order_next(struct ptc_order *o, struct ptc_rec *ret, uint64_t *ret_time_ns,
		   struct ptc_err *err);

void ptc_order_get_stats(const struct ptc_order *o, struct ptc_order_stats *ret);

#endif
