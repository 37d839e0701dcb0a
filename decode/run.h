/* SPDX-License-Identifier: MIT */
/* struct ptc_decode: what opening prepares and running uses. Private to decode/. */
#ifndef PTC_DECODE_RUN_H
#define PTC_DECODE_RUN_H

#include "auxtrace/index.h"
#include "auxtrace/pt_info.h"
#include "auxtrace/reader.h"
#include "base/idmap.h"
#include "decode/ipt.h"
#include "decode/joint.h"
#include "decode/lane.h"
#include "decode/least.h"
#include "decode/merge.h"
#include "decode/note.h"
#include "decode/pick.h"
#include "decode/piece.h"
#include "decode/process.h"
#include "decode/range.h"
#include "decode/replay.h"
#include "decode/sideband.h"
#include "decode/srcline.h"
#include "decode/stream.h"

struct ptc_decode {
	struct ptc_decode_opts opts;
	struct ptc_code_opts code_opts; /* the caller's, if opts.code */
	struct ptc_decode_stats stats;
	struct ptc_ipt ipt;
	bool ipt_ready;
	struct ptc_engine *engine; /* owned; NULL: libipt alone */
	struct ptc_tsc_clock clock;
	enum ptc_resync resync;
	struct ptc_procs procs;
	struct ptc_sideband sideband;
	struct ptc_notes notes;
	struct ptc_srclines srclines;
	struct ptc_lane *lanes; /* owned; ascending idx */
	size_t nlanes;
	struct ptc_idmap lanes_of_tid, lanes_of_cpu; /* set when a pass begins; the first of each */
	bool ids_repeat; /* two lanes have one tid, or one cpu: @lanes_of_... lack one of them */
	struct ptc_least behind; /* of live lanes: their times */
	struct ptc_merge merge;
	uint64_t contexts; /* counts the sideband records that were applied; see ptc_lane.context */
	bool runs; /* of this pass: the sink takes RUN items, and nothing chooses among them */
	bool ran;
	bool no_rounds; /* see ptc_sideband_open */
	bool cycles;	/* the trace has CYC packets */
	struct ptc_pick pick;
	struct ptc_plan *plan;	/* owned; during a pass; NULL: one thread */
	uint64_t joins;		/* slices of libipt's that were taken */
	uint64_t applied_ns;	/* the latest time of a record that was applied in this pass */
	struct ptc_joint joint; /* of a snapshot of several CPUs */

	struct ptc_file *file; /* of a recording */
	struct ptc_index index;

	struct ptc_codefile *pt; /* of raw mode; owned by procs */
	struct ptc_proc *raw;	 /* of raw mode: the one process; owned by procs */
};

/* Copy @opts, of whatever size the caller was built with. */
int ptc_decode_take_opts(struct ptc_decode *d, const struct ptc_decode_opts *opts,
			 struct ptc_err *err);

/* Who runs on a lane, and what is mapped there; NULL: nobody's. */
struct ptc_runner {
	int32_t pid, tid, cpu;
	struct ptc_proc *proc;
};

/* By what the side records said so far. */
struct ptc_runner ptc_runner_of(const struct ptc_decode *d, const struct ptc_lane *l);
/* The lane whose trace a record is about: by thread, else by cpu, else the first. */
struct ptc_lane *ptc_decode_lane_of(struct ptc_decode *d, const struct ptc_sample_id *id);
/* Gives its replay the context as it is now. */
void ptc_decode_set_context(struct ptc_decode *d, struct ptc_lane *l);

/* Decode from the lanes' starts to the end of the time that is chosen; all items go to @sink. */
int ptc_decode_pass(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);

/* After a pass: as before it, ready for another one. */
int ptc_decode_rewind(struct ptc_decode *d, struct ptc_err *err);

#endif
