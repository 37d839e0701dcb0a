/* SPDX-License-Identifier: MIT */
/* struct ptc_decode: prepared by opening, used by running. Private to decode/. */
#ifndef PTC_DECODE_SESSION_DECODER_H
#define PTC_DECODE_SESSION_DECODER_H

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/reader/reader.h"
#include "auxtrace/record/pt_info.h"
#include "base/idmap.h"
#include "base/winner_tree.h"
#include "decode/image/diagnostics.h"
#include "decode/image/ipt_image.h"
#include "decode/libipt/replay.h"
#include "decode/segment/segment.h"
#include "decode/session/discontinuity.h"
#include "decode/session/item_filter.h"
#include "decode/session/merge.h"
#include "decode/session/queue_decoder.h"
#include "decode/sideband/process.h"
#include "decode/sideband/sideband.h"
#include "decode/stream/seek.h"
#include "decode/stream/stream.h"
#include "decode/symbols/srcline.h"
#include "decode/timeline/context_timeline.h"

struct ptc_decode {
	struct ptc_decode_opts opts;
	struct ptc_code_opts code_opts; /* copied from the caller, if opts.code */
	struct ptc_decode_stats stats;
	struct ptc_ipt ipt;
	bool ipt_ready;
	struct ptc_engine *engine; /* owned; NULL: libipt alone */
	struct ptc_tsc_clock clock;
	enum ptc_resync resync;
	struct ptc_origin origin; /* the code of all tables of processes */
	struct ptc_procs procs;	  /* state after the records applied so far */
	struct ptc_sideband sideband;
	struct ptc_notes notes;
	struct ptc_srclines srclines;
	struct ptc_lane *lanes; /* owned; ascending idx */
	size_t nlanes;
	struct ptc_idmap lanes_of_tid, lanes_of_cpu; /* the first queue of each id */
	bool ids_repeat; /* two queues share a tid or a cpu: @lanes_of_... have only the first */
	struct ptc_least behind; /* times of the live queues */
	struct ptc_merge merge;
	uint64_t contexts; /* number of sideband records applied; see ptc_lane.context */
	bool runs;	   /* in this pass the sink takes RUN items, and no filter is set */
	bool ran;
	bool no_rounds; /* see ptc_sideband_open() */
	bool cycles;	/* the trace has CYC packets */
	struct ptc_pick pick;
	struct ptc_scout *timeline; /* owned; during a pass */
	struct ptc_plan *plan;	    /* owned; during a pass; NULL: one thread decodes */
	uint64_t ahead;		    /* how many segments were made before their turn, and used */
	uint64_t applied_ns;	    /* the latest time of a record applied in this pass */
	struct ptc_joint joint;	    /* for a snapshot of several CPUs */

	struct ptc_file *file; /* of a recording */
	struct ptc_index index;

	struct ptc_codefile *pt; /* raw mode: the trace; owned by procs */
	struct ptc_proc *raw;	 /* raw mode: the only process; owned by procs */
};

/* Copies @opts, which may have the size of another library version. */
int ptc_decode_take_opts(struct ptc_decode *d, const struct ptc_decode_opts *opts,
			 struct ptc_err *err);

/* Returns the runner as given by the sideband records applied so far. */
struct ptc_runner ptc_runner_of(const struct ptc_decode *d, const struct ptc_lane *l);
/* Returns the queue whose trace a record is about: by thread, else by cpu, else the first. */
struct ptc_lane *ptc_decode_lane_of(struct ptc_decode *d, const struct ptc_sample_id *id);
/* Gives the replay of @l its current context. */
void ptc_decode_set_context(struct ptc_decode *d, struct ptc_lane *l);

/* Decodes from the start of each queue to the end of the chosen time. All items go to @sink. */
int ptc_decode_pass(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);

/* Resets the state after a pass, so that another pass can begin. */
int ptc_decode_rewind(struct ptc_decode *d, struct ptc_err *err);

#endif
