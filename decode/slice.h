/* SPDX-License-Identifier: MIT */
/*
 * A part of a queue's trace, decoded before its turn: from a PSB on as if nothing were in front of
 * it, or from where a replay stands, with what side records will have made of the processes by
 * then. What each step did is kept, so that the steps can be done over again in their turn, without
 * the work.
 */
#ifndef PTC_DECODE_SLICE_H
#define PTC_DECODE_SLICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/ipt.h"
#include "decode/made.h"
#include "decode/note.h"
#include "decode/psbs.h"
#include "decode/replay.h"
#include "decode/scout.h"
#include "decode/seam.h"

struct ptc_jobs_thread;

enum { PTC_SLICE_SEAMS = 24 };

/* Where it was after a step, or some. */
struct ptc_slice_step {
	struct ptc_replay_at at;
	size_t n;	 /* items, in all */
	uint64_t newest; /* none of those is of a later time */
};

/* A place where somebody who came from in front can take over; see seam.h. */
struct ptc_slice_seam {
	struct ptc_seam seam;
	struct ptc_decode_stats stats; /* until there */
	size_t steps, n;	       /* the same */
};

struct ptc_slice {
	/* To be done. */
	struct ptc_replay_conf conf;  /* of its replay, from conf.start on */
	struct ptc_spot stop;	      /* where it ends, or a little behind */
	struct ptc_contexts contexts; /* lent by the scout */
	uint64_t horizon;	      /* they are known until then */
	size_t bytes;		      /* of trace, about */
	size_t batch;		      /* items in a step at most, about */
	bool pieces;	      /* the second engine makes its pieces, and nothing else is done */
	struct ptc_psbs psbs; /* owned; pieces: what is known of them */

	/* Done. */
	struct ptc_replay *replay;    /* owned; where it ends, with all items; none is given yet */
	struct ptc_slice_step *steps; /* owned */
	size_t nsteps, steps_cap, napart; /* the first napart are single ones */
	size_t nseams;			  /* of seams, below */
	struct ptc_decode_stats stats;
	struct ptc_notes notes; /* apart */
	bool over;		/* the last step came to the end of the trace */
	bool useless;		/* it is not what it would be in its turn, or there is no memory */
	struct ptc_made_list made; /* owned; pieces: all that there is, */
	size_t nrecs;		   /* and records of them; of those that are counted, marks */

	/* Of the jobs that it is one of; by their lock. */
	struct ptc_jobs_thread *maker; /* who runs it, or ran it */
	enum ptc_slice_state { PTC_SLICE_WAITS, PTC_SLICE_RUNS, PTC_SLICE_DONE } state;
	struct ptc_slice *next;

	struct ptc_slice_seam
		seams[PTC_SLICE_SEAMS]; /* last: ptc_slice_new leaves them as they are */
};

/* All zeros, but for the seams; NULL: out of memory. */
struct ptc_slice *ptc_slice_new(void);

/* The same code for a thread of its own: views with images, those used last. */
enum { PTC_SLICE_SPACES = 32 };

struct ptc_slice_worker {
	struct ptc_ipt *ipt;	   /* lent */
	struct ptc_engine *engine; /* lent; NULL: libipt alone */
	struct ptc_made_copy copy;
	struct ptc_addrspace spaces[PTC_SLICE_SPACES]; /* what they map is lent from views */
	uint64_t used[PTC_SLICE_SPACES], uses;
};

void ptc_slice_worker_release(struct ptc_slice_worker *w);

/* Decode it, with the replay @replay (NULL: a new one), which it owns then. */
void ptc_slice_run(struct ptc_slice *s, struct ptc_slice_worker *w, struct ptc_replay *replay,
		   const atomic_bool *cancelled);

/* Have its pieces made by the second engine. */
void ptc_slice_make(struct ptc_slice *s, struct ptc_slice_worker *w, const atomic_bool *cancelled);

/* All but what it was lent; the replay too, if it is still there. */
void ptc_slice_free(struct ptc_slice *s);

#endif
