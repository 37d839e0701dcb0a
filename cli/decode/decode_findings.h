/* SPDX-License-Identifier: MIT */
/* Messages on standard error about the trace that was decoded. */
#ifndef PTC_CLI_DECODE_DECODE_FINDINGS_H
#define PTC_CLI_DECODE_DECODE_FINDINGS_H

#include <stdint.h>

#include "ptcap/decode.h"

/* Returns the number of gaps. Gaps between snapshots do not count: that trace was not requested. */
uint64_t ptc_count_gaps(const struct ptc_decode_stats *stats);

/* Report gaps and notes that are not, or not clearly, visible in the output lines. */
void ptc_say_findings(const struct ptc_decode *d, const struct ptc_decode_stats *stats);

/* Report the first file without source lines. */
void ptc_say_without_lines(const struct ptc_decode *d);

#endif
