/* SPDX-License-Identifier: MIT */
/* Which part of a recording: what --tid, --cpu and --time say. */
#ifndef PTC_CLI_CHOICE_H
#define PTC_CLI_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* "1,2,5-7" */
struct ptc_id_list {
	struct ptc_id_range *ranges; /* owned */
	size_t n, cap;
};

/* Add what @arg lists. False: it is no list of numbers, or out of memory. */
bool ptc_id_list_parse(struct ptc_id_list *l, const char *arg);
void ptc_id_list_release(struct ptc_id_list *l);

/* "A,B", "A,", ",B" in seconds of the recording's clock, or "10%-20%" of the trace. */
struct ptc_time_choice {
	bool percent;
	uint64_t from, to; /* ns, or thousandths of a percent; UINT64_MAX: to the end */
};

/* False: @arg is none of these, or ends before it begins. */
bool ptc_time_choice_parse(const char *arg, struct ptc_time_choice *ret);

/* Have @d decode only that. */
int ptc_time_choice_apply(const struct ptc_time_choice *c, struct ptc_decode *d,
			  struct ptc_err *err);

#endif
