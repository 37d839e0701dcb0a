/* SPDX-License-Identifier: MIT */
/*
 * A work unit: a part of a queue's trace, decoded before its turn. It begins at a PSB, and ignores
 * the trace in front of it. The context timeline provides the processes as the sideband records
 * will have made them by then. The result of each step is kept, so that the steps can be repeated
 * in order later, without decoding again.
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
#include "decode/segment/seam.h"
#include "decode/segment/segment_result.h"
#include "decode/stream/psb_index.h"
#include "decode/timeline/context_timeline.h"

struct ptc_jobs_thread;

enum { PTC_SLICE_SEAMS = 24 };

/* Position after one step, or several. */
struct ptc_slice_step {
	struct ptc_replay_at at;
	size_t n;	 /* number of items so far */
	uint64_t newest; /* the latest time among them */
};

/* A place where a replay that came from in front can take over; see seam.h. */
struct ptc_slice_seam {
	struct ptc_seam seam;
	struct ptc_decode_stats stats; /* up to here */
	size_t steps, n;	       /* also up to here */
};

struct ptc_slice {
	/* Input. */
	struct ptc_replay_conf conf;  /* for its replay, from conf.start on */
	struct ptc_spot stop;	      /* it ends here, or a little behind */
	struct ptc_contexts contexts; /* lent by the timeline */
	uint64_t horizon;	      /* the contexts are known until then */
	size_t bytes;		      /* of trace, approximately */
	size_t batch;		      /* maximum items per step, approximately */
	bool pieces;		      /* only makes segments, with the second engine */
	struct ptc_psbs psbs;	      /* owned; segments: known PSBs */

	/* Result. */
	struct ptc_replay *replay;	  /* owned; at the end of the work unit, with all items */
	struct ptc_slice_step *steps;	  /* owned */
	size_t nsteps, steps_cap, napart; /* the first napart elements are single steps */
	size_t nseams;			  /* elements of @seams, below */
	struct ptc_decode_stats stats;
	struct ptc_notes notes;	   /* apart is set */
	bool over;		   /* the last step reached the end of the trace */
	bool useless;		   /* the result may be wrong, or memory ran out */
	struct ptc_made_list made; /* owned; segments: the whole result */
	size_t nrecs;		   /* number of their records; if counted, of their marks */

	/* Used by worker_pool.c, protected by its lock. */
	struct ptc_jobs_thread *maker; /* runs the work unit, or ran it */
	enum ptc_slice_state { PTC_SLICE_WAITS, PTC_SLICE_RUNS, PTC_SLICE_DONE } state;
	struct ptc_slice *next;

	struct ptc_slice_seam seams[PTC_SLICE_SEAMS]; /* last: not zeroed by ptc_slice_new() */
};

/* Returns a work unit, zeroed except for the seams. NULL: out of memory. */
struct ptc_slice *ptc_slice_new(void);

/* A thread's copies of views, with images of its own: the most recently used ones. */
enum { PTC_SLICE_SPACES = 32 };

struct ptc_slice_worker {
	struct ptc_ipt *ipt;	   /* lent */
	struct ptc_engine *engine; /* lent; NULL: libipt alone */
	struct ptc_made_copy copy;
	struct ptc_addrspace spaces[PTC_SLICE_SPACES]; /* what they map is lent from views */
	uint64_t used[PTC_SLICE_SPACES], uses;
};

void ptc_slice_worker_release(struct ptc_slice_worker *w);

/* Decodes the work unit with @replay (NULL: a new one), which the work unit owns then. */
void ptc_slice_run(struct ptc_slice *s, struct ptc_slice_worker *w, struct ptc_replay *replay,
		   const atomic_bool *cancelled);

/* Makes the segments of the work unit with the second engine. */
void ptc_slice_make(struct ptc_slice *s, struct ptc_slice_worker *w, const atomic_bool *cancelled);

/* Frees the work unit, except borrowed data. Also frees the replay, if it is still set. */
void ptc_slice_free(struct ptc_slice *s);

#endif
