/* SPDX-License-Identifier: MIT */
/*
 * One queue being decoded, step by step: by its replay, or by going over the steps of a slice that
 * has been decoded ahead of its turn.
 */
#ifndef PTC_DECODE_LANE_H
#define PTC_DECODE_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/plan.h"
#include "decode/psbs.h"
#include "decode/range.h"
#include "decode/replay.h"
#include "decode/stream.h"

struct ptc_decode;
struct ptc_jobs_thread;
struct ptc_slice;

/*
 * Items are handed over in batches of about this many: there is room for them, and for what they
 * are made of, in the first of a CPU's caches, also where another program has half of it.
 */
enum { PTC_LANE_BATCH = 256 };

struct ptc_lane {
	uint32_t idx;
	int32_t tid, cpu; /* the queue's; -1: none */
	struct ptc_stream stream;
	struct ptc_mark *marks; /* owned */
	size_t nmarks, marks_cap;
	bool samples;	/* the trace is that of samples */
	bool snapshots; /* or samples: what is between them was not kept */
	struct ptc_replay *replay;
	uint64_t context; /* ptc_decode.contexts when the replay was given its context */
	bool live;
	struct ptc_spot start;	    /* where decoding begins */
	struct ptc_spot next_start; /* of --last: of the next attempt */
	bool begun;
	uint64_t begin_ns;    /* once begun: when that is */
	struct ptc_sums sums; /* of what is not handed over as items, nor as these, yet */

	/* With several threads; see plan.h. */
	struct ptc_slice **planned; /* owned; ascending */
	size_t nplanned, planned_cap;
	struct ptc_plan_cut cut;	 /* where the one behind them begins */
	struct ptc_psbs psbs;		 /* found on the way there; pieces: */
	uint64_t last_ns;		 /* the last time of all */
	bool stepped;			 /* since ptc_plan_fill last looked at @cut */
	const struct ptc_slice *serving; /* the one whose pieces the replay has; NULL: none */
	struct ptc_jobs_thread *writer;	 /* whose memory the replay's items have; NULL: its own */

	/*
	 * The slice whose steps are gone over. The replay is its, and stands at its end; of the
	 * items those that are yet to come are hidden.
	 */
	struct ptc_slice *playing;  /* owned; NULL: none */
	size_t step;		    /* the next one */
	size_t shift;		    /* items in front of the slice's, modulo SIZE_MAX + 1 */
	struct ptc_replay_at place; /* where the steps have come to */
};

/* How a replay of it is made. */
struct ptc_replay_conf ptc_lane_conf(struct ptc_decode *d, struct ptc_lane *l);

/* What ptc_lane_steps returns beside what ptc_replay_steps does: see ptc_jobs_serve. */
enum { PTC_LANE_PASS = 2 };

/* ptc_replay_steps, for a batch; or nothing, and PTC_LANE_PASS: it is another thread's turn. */
int ptc_lane_steps(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err);

/* What ptc_replay_... would say. */
struct ptc_replay_at ptc_lane_where(const struct ptc_lane *l);
uint64_t ptc_lane_time(const struct ptc_lane *l);
uint64_t ptc_lane_low(const struct ptc_lane *l);
void ptc_lane_lost(struct ptc_lane *l, uint64_t time);

#endif
