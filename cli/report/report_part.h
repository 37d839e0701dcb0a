/* SPDX-License-Identifier: MIT */
/* `ptcap report --shard`: the calls of a shard for `ptcap sum`, with the durations of calls. */
#ifndef PTC_CLI_REPORT_REPORT_PART_H
#define PTC_CLI_REPORT_REPORT_PART_H

#include <stdbool.h>

#include "cli/calls/part_out.h"
#include "cli/report/report.h"

/* The durations of the calls of a function. */
struct ptc_known_durations {
	uint64_t known[PTC_SUMS_AXES], sum[PTC_SUMS_AXES], max[PTC_SUMS_AXES];
};

/* Initialize with zeros. */
struct ptc_report_part {
	struct ptc_part_out out;
	struct ptc_known_durations *functions; /* owned; by the stream's numbers */
	size_t n, cap;
	struct ptc_durations durations;
};

/* Prints the head. @p must not move. Returns false if out of memory. */
bool ptc_report_part_begin(struct ptc_report_part *p, const struct ptc_report *r);

/* ptc_sink.on_items; ctx is a struct ptc_report_part. Returns PTC_E_NO_MEMORY. */
int ptc_report_part_items(void *ctx, const struct ptc_item *items, size_t n);

/* Prints all that remains, after all items. Returns false if out of memory. */
bool ptc_report_part_end(struct ptc_report_part *p);
void ptc_report_part_release(struct ptc_report_part *p);

/* The options of the report, as they are in the head. */
enum ptc_report_part_option {
	PTC_PART_FORMAT,
	PTC_PART_SORT,
	PTC_PART_TOP,
	PTC_PART_AXIS,
	PTC_PART_HAS_TIME,
	PTC_PART_OPTIONS
};

#endif
