/* SPDX-License-Identifier: MIT */
/* Selection of a part of a recording: --tid, --cpu and --time. */
#ifndef PTC_CLI_COMMON_SELECTION_ARGS_H
#define PTC_CLI_COMMON_SELECTION_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* A list of ids, from a text such as "1,2,5-7". */
struct ptc_id_list {
	struct ptc_id_range *ranges; /* owned */
	size_t n, cap;
};

/* Add the ids in @arg. Returns false if malformed, or if out of memory. */
bool ptc_id_list_parse(struct ptc_id_list *l, const char *arg);
void ptc_id_list_release(struct ptc_id_list *l);

/*
 * A time range: "A,B", "A,", ",B" in seconds of the recording's clock, or "10%-20%" of the trace.
 */
struct ptc_time_choice {
	bool percent;
	uint64_t from, to; /* ns, or thousandths of a percent; UINT64_MAX: to the end */
};

/* Parse @arg. Returns false if malformed, or if the end is before the start. */
bool ptc_time_choice_parse(const char *arg, struct ptc_time_choice *ret);

/* Restrict decoding to the time range. */
int ptc_time_choice_apply(const struct ptc_time_choice *c, struct ptc_decode *d,
			  struct ptc_err *err);

#endif
