/* SPDX-License-Identifier: MIT */
/* `ptcap decode --stats`: totals instead of items. */
#ifndef PTC_CLI_DECODE_OUT_STATS_H
#define PTC_CLI_DECODE_OUT_STATS_H

#include "cli/decode/line_buffer.h"

/* Sums over items. */
struct ptc_totals {
	uint64_t kinds[PTC_KIND_COUNT];
	uint64_t gap_bytes[PTC_GAP_COUNT];
	uint64_t first_ns, last_ns; /* PTC_NO_TIME: no item has a time */
};

#define PTC_TOTALS_INIT                                                                            \
	{                                                                                          \
		.first_ns = PTC_NO_TIME, .last_ns = PTC_NO_TIME                                    \
	}

/* ptc_sink.on_items; ctx is a struct ptc_totals. */
int ptc_totals_items(void *ctx, const struct ptc_item *items, size_t n);
/* ptc_sums_sink.on_sums; ctx is a struct ptc_totals. */
int ptc_totals_sums(void *ctx, const struct ptc_sums *sums);

/* Print as text, or as one JSON object (doc/json.md). */
void ptc_totals_print(const struct ptc_totals *t, const struct ptc_decode *d, struct ptc_line *l,
		      bool json);

#endif
