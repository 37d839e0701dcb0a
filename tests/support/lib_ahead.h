/* SPDX-License-Identifier: MIT */
/*
 * Pieces that are made before their turn, a few in a list, by one of two threads as it were: what
 * each has is its own again afterwards. Every other list goes as soon as it can be seen that one of
 * its pieces is not over yet.
 */
#ifndef PTC_TESTS_LIB_AHEAD_H
#define PTC_TESTS_LIB_AHEAD_H

#include <stdbool.h>

#include "decode/piece.h"
#include "decode/replay.h"

struct ahead {
	struct ptc_engine *e; /* lent; NULL: none are */
	const struct ptc_addrspace *as;
	struct ptc_made_copy copy;
	struct ptc_made_list lists[2];
	unsigned int at; /* the list that is lent */
	bool lent, stays;
	struct ptc_spot stop; /* up to here */
	const void *recs, *marks;
};

/*
 * In front of each step: as a lane has it, the replay is stopped where another list begins. Returns
 * what is wrong; NULL: nothing is.
 */
const char *ahead_serve(struct ahead *a, struct ptc_replay *r, const struct ptc_stream *stream);
/* The same, behind the last step. */
const char *ahead_close(struct ahead *a, struct ptc_replay *r);

#endif
