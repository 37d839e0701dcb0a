/* SPDX-License-Identifier: MIT */
/*
 * Durations of calls as histograms, for percentiles. A histogram has buckets of one value below
 * 128, and 64 buckets for each power of two above. So a percentile is at most 1/64 (1.6 %) too
 * high. The memory depends on the number of different buckets, not on the number of durations.
 */
#ifndef PTC_CLI_REPORT_DURATIONS_H
#define PTC_CLI_REPORT_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/number_index.h"

/* The numbers of buckets are below this. */
enum { PTC_DURATIONS_BUCKETS = 1 << 12 };

/* Many histograms, which the caller numbers. Initialize with zeros. */
struct ptc_durations {
	struct ptc_durations_bucket *v; /* owned */
	size_t n, cap;
	struct ptc_number_index index;
};

/*
 * Add @value to histogram @set, which is below 2^52. Returns false if out of memory, or if the
 * budget has no more memory.
 */
bool ptc_durations_add(struct ptc_durations *d, uint64_t set, uint64_t value);

/* The same for @times values of a bucket, whose number ptc_durations_bucket gave. */
bool ptc_durations_add_bucket(struct ptc_durations *d, uint64_t set, uint64_t bucket,
			      uint64_t times);

/*
 * Gets the bucket behind *@at of histogram @set, after ptc_durations_sort, and moves *@at, which
 * begins with 0. Returns false if there are no more.
 */
bool ptc_durations_bucket(const struct ptc_durations *d, uint64_t set, size_t *at,
			  uint64_t *ret_bucket, uint64_t *ret_times);

/* Prepare ptc_durations_percentile. No more values may be added. */
void ptc_durations_sort(struct ptc_durations *d);

/*
 * Returns the highest value of the bucket with the value of rank ceil(@n * @percent / 100), of @n
 * values of histogram @set. The value itself is at most 1/64 lower. 0: @n is 0.
 */
uint64_t ptc_durations_percentile(const struct ptc_durations *d, uint64_t set, uint64_t n,
				  unsigned int percent);

void ptc_durations_release(struct ptc_durations *d);

#endif
