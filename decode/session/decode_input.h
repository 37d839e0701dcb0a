/* SPDX-License-Identifier: MIT */
/*
 * What is decoded: a recording or a bare trace, its queues, and its processes with their code.
 * Opening fills it. Private to decode/.
 */
#ifndef PTC_DECODE_SESSION_DECODE_INPUT_H
#define PTC_DECODE_SESSION_DECODE_INPUT_H

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/reader/reader.h"
#include "decode/image/diagnostics.h"
#include "decode/image/ipt_image.h"
#include "decode/segment/queue_decoder.h"
#include "decode/session/discontinuity.h"
#include "decode/sideband/process.h"
#include "decode/sideband/queue_map.h"
#include "decode/sideband/sideband.h"
#include "decode/stream/tsc_clock.h"
#include "ptcap/cutout.h"
#include "ptcap/decode.h"

struct ptc_decode_input {
	struct ptc_decode_opts opts;
	struct ptc_code_opts code_opts; /* copied from the caller, if opts.code */
	struct ptc_file *file;		/* owned; NULL: raw mode */
	struct ptc_index index;
	struct ptc_tsc_clock clock;
	bool cycles; /* the trace has CYC packets */
	enum ptc_resync resync;
	struct ptc_ipt ipt;
	bool ipt_ready;
	struct ptc_queue_decoder *lanes; /* owned; ascending idx */
	size_t nlanes;
	struct ptc_queue_map queues;	/* from a sideband record to a queue */
	struct ptc_discontinuity joint; /* for a snapshot of several CPUs */
	struct ptc_origin origin;	/* the code of all tables of processes */
	struct ptc_procs procs;		/* state after the records applied so far */
	struct ptc_sideband sideband;
	struct ptc_notes notes;
	struct ptc_cutout cutout; /* owned; n 0: the recording is none */
	struct ptc_proc *raw;	  /* raw mode: the only process; owned by procs */
};

/* Begins @in, which is zeroed. Copies @opts, which may have the size of another library version. */
int ptc_decode_input_begin(struct ptc_decode_input *in, const struct ptc_decode_opts *opts,
			   struct ptc_err *err);
/* Accepts a half-opened input, too. */
void ptc_decode_input_release(struct ptc_decode_input *in);

/* Opens the recording at @path. */
int ptc_decode_input_open(struct ptc_decode_input *in, const char *path, struct ptc_err *err);
/* Opens a bare trace. @code[0..n) is its code. */
int ptc_decode_input_open_raw(struct ptc_decode_input *in, const char *pt_path,
			      const struct ptc_raw_code *code, size_t n, struct ptc_err *err);

#endif
