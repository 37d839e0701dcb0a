/* SPDX-License-Identifier: MIT */
/*
 * Detection of wrong sample times: stacks that do not match at their time, but match exactly
 * nearby.
 */
#ifndef PTC_CLI_COMPARE_CLOCK_CHECK_H
#define PTC_CLI_COMPARE_CLOCK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/compare.h"

#define PTC_TIMES_SLACK_NS UINT64_C(200000) /* tolerance that is tried */

enum { PTC_TIMES_DOUBTS = 64 };

/* The numbers of the first samples that do not match. Initialize with zeros. */
struct ptc_doubts {
	uint64_t numbers[PTC_TIMES_DOUBTS];
	size_t n;
	uint64_t seen; /* samples so far */
};

/* Add @s, the next sample. @first: number of the first sample. */
void ptc_doubts_add(struct ptc_doubts *d, uint64_t first, const struct ptc_compare_sample *s);

/*
 * Decode @input again with a tolerance of PTC_TIMES_SLACK_NS. *@ret_off: there are enough doubtful
 * samples, and most of them are exact with the tolerance. Errors as ptc_compare_run.
 */
int ptc_doubts_check(const struct ptc_doubts *d, const char *input, bool *ret_off,
		     struct ptc_err *err);

#endif
