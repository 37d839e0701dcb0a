/* SPDX-License-Identifier: MIT */
/*
 * A work unit: some PSB segments of a queue, which a thread decodes before their turn. The context
 * timeline provides the processes as the sideband records will have made them by then.
 */
#ifndef PTC_DECODE_SEGMENT_WORK_UNIT_H
#define PTC_DECODE_SEGMENT_WORK_UNIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/image/diagnostics.h"
#include "decode/image/ipt_image.h"
#include "decode/libipt/replay.h"
#include "decode/segment/segment_result.h"
#include "decode/stream/psb_index.h"
#include "decode/timeline/context_timeline.h"

struct ptc_pool_thread;

struct ptc_work_unit {
	/* Input. */
	struct ptc_replay_conf conf;	 /* of the queue; conf.start: the beginning */
	struct ptc_spot stop;		 /* the unit ends there, or a little behind */
	struct ptc_contexts contexts;	 /* lent by the timeline */
	struct ptc_queue_contexts known; /* conf.contexts: those */
	size_t bytes;			 /* of trace, approximately */
	size_t batch;			 /* maximum items per step, approximately */
	struct ptc_psbs psbs;		 /* owned; known PSBs */

	struct ptc_result_list made; /* owned; the result */
	size_t nrecs;		     /* its size, in records of the engine */

	/* Used by worker_pool.c, protected by its lock. */
	struct ptc_pool_thread *maker; /* runs the work unit, or ran it */
	enum ptc_work_unit_state {
		PTC_WORK_UNIT_WAITS,
		PTC_WORK_UNIT_RUNS,
		PTC_WORK_UNIT_DONE
	} state;
	struct ptc_work_unit *next;
};

/* A thread's copies of views, with images of its own: the most recently used ones. */
enum { PTC_WORK_UNIT_SPACES = 32 };

struct ptc_work_unit_worker {
	struct ptc_ipt *ipt;	   /* lent */
	struct ptc_engine *engine; /* lent; NULL: libipt alone */
	struct ptc_result_copy copy;
	struct ptc_addrspace spaces[PTC_WORK_UNIT_SPACES]; /* their mappings are lent from views */
	uint64_t used[PTC_WORK_UNIT_SPACES], uses;

	/* libipt, for segments that the engine declines. */
	struct ptc_replay *replay; /* owned; NULL: not needed yet */
	struct ptc_spot at;	   /* the PSB at which the replay stands; span SIZE_MAX: none */
	struct ptc_decode_stats stats;
	struct ptc_notes notes;
	const struct ptc_context *now; /* lent; the context of the replay; NULL: none */
	uint64_t time;
};

void ptc_work_unit_worker_release(struct ptc_work_unit_worker *w);

/* Makes the segments of the work unit. */
void ptc_work_unit_make(struct ptc_work_unit *s, struct ptc_work_unit_worker *w,
			const atomic_bool *cancelled);
/*
 * libipt_segment.c: makes the segment at @at with libipt. @why: why the engine declined it, a
 * literal; NULL: there is no engine. Returns the offset of the PSB behind it; SIZE_MAX: it must be
 * decoded in its turn.
 */
size_t ptc_segment_make_items(struct ptc_work_unit *s, struct ptc_work_unit_worker *w,
			      struct ptc_spot at, const char *why);

/* Frees the work unit, except borrowed data. */
void ptc_work_unit_free(struct ptc_work_unit *s);

#endif
