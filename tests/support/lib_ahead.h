/* SPDX-License-Identifier: MIT */
/*
 * Segments decoded in advance, a few in each list, as by two threads that alternate. Each thread
 * gets back its own memory afterwards. Every other list is dropped while one of its segments is
 * still in use.
 */
#ifndef PTC_TESTS_LIB_AHEAD_H
#define PTC_TESTS_LIB_AHEAD_H

#include <stdbool.h>

#include "decode/libipt/replay.h"
#include "decode/segment/segment.h"

struct ahead {
	struct ptc_engine *e; /* borrowed; NULL: no lists */
	const struct ptc_queue_contexts *contexts;
	const struct ptc_tsc_clock *clock;
	struct ptc_result_copy copy;
	struct ptc_result_list lists[2];
	unsigned int at; /* the borrowed list */
	bool lent, stays;
	struct ptc_spot stop; /* end of the list */
	const void *recs, *marks;
};

/*
 * Call before each step: the decode stops where another list begins, as a lane does. Returns an
 * error text; NULL: no error.
 */
const char *ahead_serve(struct ahead *a, struct ptc_replay *r, const struct ptc_stream *stream);
/* The same check, after the last step. */
const char *ahead_close(struct ahead *a, struct ptc_replay *r);

#endif
