/* SPDX-License-Identifier: MIT */
/* struct ptc_decode: what opening prepares and running uses. Private to decode/. */
#ifndef PTC_DECODE_RUN_H
#define PTC_DECODE_RUN_H

#include "auxtrace/index.h"
#include "auxtrace/pt_info.h"
#include "auxtrace/reader.h"
#include "decode/ipt.h"
#include "decode/note.h"
#include "decode/process.h"
#include "decode/replay.h"
#include "decode/sideband.h"
#include "decode/srcline.h"
#include "decode/stream.h"

/* One queue being decoded. */
struct ptc_lane {
	uint32_t idx;
	int32_t tid, cpu; /* the queue's; -1: none */
	struct ptc_stream stream;
	struct ptc_mark *marks; /* owned */
	size_t nmarks, marks_cap;
	struct ptc_replay *replay;
	bool live;
};

struct ptc_decode {
	struct ptc_decode_opts opts;
	struct ptc_decode_stats stats;
	struct ptc_ipt ipt;
	bool ipt_ready;
	struct ptc_tsc_clock clock;
	enum ptc_resync resync;
	bool snapshots; /* the recording is of them */
	struct ptc_procs procs;
	struct ptc_sideband sideband;
	struct ptc_notes notes;
	struct ptc_srclines srclines;
	struct ptc_lane *lanes; /* owned; ascending idx */
	size_t nlanes;
	bool ran;

	struct ptc_file *file; /* of a recording */
	struct ptc_index index;

	struct ptc_codefile *pt; /* of raw mode; owned by procs */
	struct ptc_proc *raw;	 /* of raw mode: the one process; owned by procs */
};

/* Copy @opts, of whatever size the caller was built with. */
int ptc_decode_take_opts(struct ptc_decode *d, const struct ptc_decode_opts *opts,
			 struct ptc_err *err);

#endif
