/* SPDX-License-Identifier: MIT */
/* Decodes one queue, step by step, with the segments that threads made before their turn. */
#ifndef PTC_DECODE_SEGMENT_QUEUE_DECODER_H
#define PTC_DECODE_SEGMENT_QUEUE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/libipt/replay.h"
#include "decode/segment/queue_part.h"
#include "decode/segment/scheduler.h"
#include "decode/stream/psb_index.h"
#include "decode/stream/seek.h"
#include "decode/stream/stream.h"
#include "decode/timeline/context_timeline.h"

struct ptc_pool_thread;
struct ptc_work_unit;

/*
 * Items are handed over in batches of about this size. A batch, and the data that it is made of,
 * fit into a CPU's first-level cache, even if another program uses half of it.
 */
enum { PTC_QUEUE_DECODER_BATCH = 256 };

struct ptc_queue_decoder {
	uint32_t idx;
	int32_t tid, cpu; /* of the queue; -1: none */
	struct ptc_stream stream;
	struct ptc_mark *marks; /* owned */
	size_t nmarks, marks_cap;
	bool samples;	/* the trace is from samples */
	bool snapshots; /* from snapshots or samples: the trace between them was not kept */
	struct ptc_replay_conf conf; /* of the replay */
	struct ptc_replay *replay;
	struct ptc_queue_contexts known; /* contexts of this queue */
	uint64_t context;		 /* ptc_pass.contexts when the replay got its context */
	bool live;
	struct ptc_spot start;	    /* where decoding begins */
	struct ptc_spot next_start; /* start of the next attempt, for --last */
	bool begun;
	uint64_t begin_ns;    /* valid once begun: the time of the beginning */
	struct ptc_sums sums; /* counts that are not handed over yet, as items or as sums */
	struct ptc_queue_part part;

	/* With several threads; see decode/segment/scheduler.h. */
	struct ptc_work_unit **planned; /* owned; ascending */
	size_t nplanned, planned_cap;
	struct ptc_scheduler_cut cut; /* where the work unit behind planned begins */
	struct ptc_psbs psbs;	      /* PSBs found on the way to cut */
	uint64_t last_ns;	      /* for segments made ahead: the last time of the queue */
	bool stepped;		      /* since ptc_scheduler_fill last looked at @cut */
	const struct ptc_work_unit
		*serving; /* work unit with the segments of the replay; NULL: none */
	/* the thread whose memory the replay's items have; NULL: its own */
	struct ptc_pool_thread *writer;
};

/* Result of ptc_queue_decoder_steps, besides those of ptc_replay_steps: see ptc_pool_serve. */
enum { PTC_QUEUE_DECODER_PASS = 2 };

/*
 * ptc_replay_steps for a batch. @p: NULL: one thread decodes. PTC_QUEUE_DECODER_PASS: nothing was
 * done, it is another thread's turn.
 */
int ptc_queue_decoder_steps(struct ptc_queue_decoder *l, struct ptc_scheduler *p,
			    struct ptc_err *err);

#endif
