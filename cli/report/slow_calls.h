/* SPDX-License-Identifier: MIT */
/* The slowest calls of a function, with their places. */
#ifndef PTC_CLI_REPORT_SLOW_CALLS_H
#define PTC_CLI_REPORT_SLOW_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_slow_call {
	uint64_t took; /* on the axis of the order */
	/* Begin and duration by axis (PTC_SUMS_INSNS, PTC_SUMS_TIME). The begin may be PTC_NO_TIME.
	 */
	uint64_t at[2], duration[2];
	uint32_t thread, function, caller; /* numbers of the call stream; PTC_NO_NUMBER: unknown */
	uint64_t from;			   /* address of the call in the caller; 0: unknown */
	const char *file;		   /* of the source; borrowed from the decoder; or NULL */
	int line;
};

/* Initialize with zeros, except max. */
struct ptc_slow_calls {
	size_t max;		 /* calls to keep */
	struct ptc_slow_call *v; /* owned; a heap, the first to drop in front; sorted by _sort */
	size_t n, cap;
};

/* Would this call be kept? Of equally slow calls the earlier ones are kept. */
bool ptc_slow_calls_want(const struct ptc_slow_calls *s, const struct ptc_slow_call *call);

/* Keep @call, which is wanted, instead of the first to drop. Returns false if out of memory. */
bool ptc_slow_calls_add(struct ptc_slow_calls *s, const struct ptc_slow_call *call);

/* Sort, the slowest first, and the earliest of equal ones. No more calls may be added. */
void ptc_slow_calls_sort(struct ptc_slow_calls *s);

void ptc_slow_calls_release(struct ptc_slow_calls *s);

#endif
