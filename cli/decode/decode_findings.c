/* SPDX-License-Identifier: MIT */
#include "cli/decode/decode_findings.h"

#include <stdio.h>

#include "base/plural.h"
#include "cli/common/cli.h"

uint64_t ptc_count_gaps(const struct ptc_decode_stats *stats)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < PTC_GAP_COUNT; i++)
		if (i != PTC_GAP_SNAPSHOT)
			n += stats->gaps[i];
	return n;
}

void ptc_say_findings(const struct ptc_decode *d, const struct ptc_decode_stats *stats)
{
	const uint64_t gaps = ptc_count_gaps(stats);
	const char *note;
	size_t i;

	fflush(stdout);
	if (gaps)
		ptc_say("%llu gap%s in the trace", (unsigned long long)gaps, ptc_plural(gaps));
	if (stats->gaps[PTC_GAP_SNAPSHOT])
		ptc_say("%llu snapshot gap%s: older trace was overwritten",
			(unsigned long long)stats->gaps[PTC_GAP_SNAPSHOT],
			ptc_plural(stats->gaps[PTC_GAP_SNAPSHOT]));
	for (i = 0; (note = ptc_decode_note(d, i)) != NULL; i++)
		ptc_say("%s", note);
}

void ptc_say_without_lines(const struct ptc_decode *d)
{
	size_t n;
	const char *first = ptc_decode_without_lines(d, &n);

	if (!first)
		return;
	fflush(stdout);
	ptc_say("no source lines for '%s'%s: no debug information; install its debug package, or "
		"use --debuginfod",
		first, n > 1 ? " and other files" : "");
}
