/* SPDX-License-Identifier: MIT */
/*
 * Items of all lanes leave in the order of their times, as soon as no lane can come up with an
 * earlier one; between them the places where a thread's trace of several CPUs cannot be joined.
 */
#ifndef PTC_DECODE_MERGE_H
#define PTC_DECODE_MERGE_H

#include "decode/least.h"

struct ptc_decode;
struct ptc_err;
struct ptc_lane;
struct ptc_sink;

struct ptc_merge {
	struct ptc_least fronts; /* of lanes with items: the time of the first one */
	struct ptc_least lows;	 /* of live lanes: no item to come is before this time */
};

/* Begins a pass over all lanes, of which none has items or is live. */
int ptc_merge_begin(struct ptc_decode *d, struct ptc_err *err);
void ptc_merge_release(struct ptc_merge *m);
/* Takes in what changed on @l: the items, the time, or whether it is live. */
void ptc_merge_changed(struct ptc_decode *d, const struct ptc_lane *l);

/* Hand over what nothing to come can be in front of. PTC_E_STOPPED: the sink said so. */
int ptc_merge_settled(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);
/* The same of all that is left, when no lane steps any more. */
int ptc_merge_rest(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);

#endif
