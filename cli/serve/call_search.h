/* SPDX-License-Identifier: MIT */
/* Finds calls of a recording for `ptcap view --serve`. */
#ifndef PTC_CLI_SERVE_CALL_SEARCH_H
#define PTC_CLI_SERVE_CALL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/serve/served_recording.h"

struct ptc_call_place {
	uint32_t thread;
	uint64_t number; /* of the call in its thread */
};

struct ptc_call_search {
	const uint32_t *functions; /* borrowed; sorted; the functions to find */
	size_t nfunctions;
	int axis;
	bool backward;
	bool whole;		  /* begin in front of all calls (backward: behind) */
	struct ptc_call_place at; /* not whole: the call before the result */
};

/*
 * Find the next call in the order of begins. At equal begins the thread and then the number decide.
 * *@ret_found: there is one, *@ret.
 */
int ptc_call_search(struct ptc_served_recording *s, const struct ptc_call_search *ask,
		    bool *ret_found, struct ptc_call_place *ret, struct ptc_err *err);

/* Find the call before (@backward) or behind call @at, which has @depth, at the same depth. */
int ptc_call_beside(struct ptc_served_recording *s, struct ptc_call_place at, uint32_t depth,
		    bool backward, bool *ret_found, uint64_t *ret_number, struct ptc_err *err);

#endif
