/* SPDX-License-Identifier: MIT */
/*
 * Are the samples' times right? Stacks that make no sense where their times have them, and are
 * exact not far from there, say that they are not.
 */
#ifndef PTC_CLI_COMPARE_TIMES_H
#define PTC_CLI_COMPARE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/compare.h"

#define PTC_TIMES_SLACK_NS UINT64_C(200000) /* how far it is looked */

enum { PTC_TIMES_DOUBTS = 64 };

/* The first samples that are not as traced, by their numbers. Starts zeroed. */
struct ptc_doubts {
	uint64_t numbers[PTC_TIMES_DOUBTS];
	size_t n;
	uint64_t seen; /* samples */
};

/* @s is the next sample; @first: the number of the first one. */
void ptc_doubts_add(struct ptc_doubts *d, uint64_t first, const struct ptc_compare_sample *s);

/*
 * *@ret_off: there are enough of them, and most are exact if times may be wrong by
 * PTC_TIMES_SLACK_NS. Replays @input again. Errors as ptc_compare_run.
 */
int ptc_doubts_check(const struct ptc_doubts *d, const char *input, bool *ret_off,
		     struct ptc_err *err);

#endif
