/* SPDX-License-Identifier: MIT */
/*
 * Until when a lane may run without anybody having to look at anything: what side records ahead
 * have to do with it. Most are about others, or say what is known.
 */
#ifndef PTC_DECODE_CALM_H
#define PTC_DECODE_CALM_H

#include <stdbool.h>
#include <stdint.h>

struct ptc_decode;
struct ptc_fast_code;
struct ptc_lane;

/* Of a lane; d NULL: nothing is known. */
struct ptc_calm {
	struct ptc_decode *d;	  /* lent */
	const struct ptc_lane *l; /* lent */
};

/* Tell the lane's replay; before each of its steps. */
void ptc_calm_tell(struct ptc_decode *d, const struct ptc_lane *l);

/* Is it the same thread that runs on the lane up to @time, included, and nothing to be listed
 * there? */
bool ptc_calm_is_same(const struct ptc_calm *w, uint64_t time);
/* And does none of the code change that @code knows (NULL: nobody knows which that is)? */
bool ptc_calm_lasts(const struct ptc_calm *w, uint64_t time, struct ptc_fast_code *code);

#endif
