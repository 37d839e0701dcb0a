/* SPDX-License-Identifier: MIT */
/*
 * Decodes all queues of an input once. The queue whose trace is the furthest behind makes a step.
 * Before that, the sideband records up to its time are applied. merge.c hands over the items.
 */
#ifndef PTC_DECODE_SESSION_PASS_H
#define PTC_DECODE_SESSION_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/winner_tree.h"
#include "decode/session/merge.h"
#include "ptcap/decode.h"

struct ptc_engine;
struct ptc_decode_input;
struct ptc_scheduler;
struct ptc_timeline;

struct ptc_pass {
	struct ptc_decode_input *in; /* lent */
	uint64_t from_ns, to_ns;     /* the requested time, [from, to); UINT64_MAX: no end */
	/* A shard with times: [from, to); to UINT64_MAX: no end. */
	struct {
		uint64_t from_ns, to_ns;
	} shard;
	struct ptc_engine *engine; /* owned; NULL: libipt alone */
	struct ptc_decode_stats stats;
	struct ptc_least behind; /* times of the live queues */
	struct ptc_merge merge;
	uint64_t contexts;   /* number of sideband records applied; see ptc_queue_decoder.context */
	uint64_t applied_ns; /* the latest time of a record applied in this pass */
	uint64_t ahead;	     /* how many segments were made before their turn, and used */
	bool runs;	     /* in this pass the sink takes RUN items, and no filter is set */
	struct ptc_timeline *timeline;	  /* owned; during a pass */
	bool pause;			  /* the sink wants a pause */
	bool paused;			  /* ptc_pass_run() returned PTC_PASS_PAUSED */
	struct ptc_scheduler *plan;	  /* owned; during a pass; NULL: one thread decodes */
	void (*before_change)(void *ctx); /* see ptc_decode_on_change(); NULL: not wanted */
	void *change_ctx;
};

enum { PTC_PASS_PAUSED = 1 };

/*
 * Decodes from the start of each queue to the end of the chosen time. All items go to @sink.
 * PTC_PASS_PAUSED: as the sink wanted. The next call continues.
 */
int ptc_pass_run(struct ptc_pass *p, const struct ptc_sink *sink, struct ptc_err *err);

/* Ends a paused pass. To be called before ptc_decode_input_release(). */
void ptc_pass_end(struct ptc_pass *p);

/* Resets the state for another pass. */
int ptc_pass_rewind(struct ptc_pass *p, struct ptc_err *err);

/* Call it after ptc_decode_input_release(), which frees the replays. */
void ptc_pass_release(struct ptc_pass *p);

#endif
