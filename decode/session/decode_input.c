/* SPDX-License-Identifier: MIT */
#include "decode/session/decode_input.h"

#include <stdlib.h>

#include "base/opts.h"

int ptc_decode_input_begin(struct ptc_decode_input *in, const struct ptc_decode_opts *opts,
			   struct ptc_err *err)
{
	const struct ptc_decode_opts defaults = PTC_DECODE_OPTS_INIT;
	int r = ptc_opts_take(&in->opts, sizeof(in->opts), opts ? opts : &defaults,
			      "PTC_DECODE_OPTS_INIT", err);

	if (!r && in->opts.code) {
		r = ptc_opts_take(&in->code_opts, sizeof(in->code_opts), in->opts.code,
				  "PTC_CODE_OPTS_INIT", err);
		in->opts.code = &in->code_opts;
	}
	in->procs.origin = &in->origin;
	in->origin.files.mangled = in->opts.mangled;
	return r;
}

void ptc_decode_input_release(struct ptc_decode_input *in)
{
	size_t i;

	for (i = 0; i < in->nlanes; i++) {
		ptc_replay_free(in->lanes[i].replay);
		ptc_stream_release(&in->lanes[i].stream);
		free(in->lanes[i].marks);
	}
	free(in->lanes);
	ptc_queue_map_release(&in->queues);
	ptc_sideband_release(&in->sideband);
	ptc_procs_release(&in->procs);
	ptc_origin_release(&in->origin);
	if (in->ipt_ready)
		ptc_ipt_release(&in->ipt);
	ptc_notes_release(&in->notes);
	ptc_cutout_release(&in->cutout);
	ptc_index_release(&in->index);
	ptc_discontinuity_release(&in->joint);
	ptc_file_free(in->file);
}
