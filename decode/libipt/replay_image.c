/* SPDX-License-Identifier: MIT */
/* The image of the decoder: the code of the current process, in the current execution mode. */
#include <intel-pt.h>

#include "decode/image/ipt_image.h"
#include "decode/libipt/replay_state.h"

static int set_image(struct ptc_replay *r, bool modeless, struct ptc_err *err)
{
	int ret;

	if (!r->dec)
		return 0;
	ret = ptc_ipt_image(r->conf.ipt, r->code.as, modeless ? PTC_MODES : r->code.mode,
			    &r->code.image, err);
	if (!ret)
		(void)pt_blk_set_image(r->dec, r->code.image->image);
	r->code.modeless_image = modeless;
	r->code.image_drops = r->conf.ipt->drops;
	return ret;
}

int ptc_replay_set_image(struct ptc_replay *r, struct ptc_err *err)
{
	return set_image(r, r->code.modeless, err);
}

/* Returns true if the image may have been freed, or needs more code. */
static bool is_image_old(const struct ptc_replay *r)
{
	return r->code.image_drops != r->conf.ipt->drops ||
	       (r->code.image && r->code.image->nwanted);
}

int ptc_replay_follow_mode(struct ptc_replay *r, const struct pt_event *ev, struct ptc_err *err)
{
	enum ptc_mode mode;

	if (ev->type != ptev_exec_mode)
		return 0;
	r->code.modeless = ev->variant.exec_mode.mode == ptem_unknown;
	mode = mode_of(ev->variant.exec_mode.mode);
	if (mode == r->code.mode)
		return 0;
	r->code.mode = mode;
	return ptc_replay_set_image(r, err);
}

/* After a PSB without a mode libipt may use only the image for no mode. */
static int use_mode(struct ptc_replay *r, struct ptc_err *err)
{
	if (r->code.modeless == r->code.modeless_image || r->status & pts_event_pending)
		return 0;
	return ptc_replay_set_image(r, err);
}

int ptc_replay_use_code(struct ptc_replay *r, struct ptc_err *err)
{
	int ret;

	if (!r->code.changed && r->code.version == ptc_addrspace_version(r->code.as)) {
		ret = is_image_old(r) ? set_image(r, r->code.modeless_image, err) : 0;
		return ret < 0 ? ret : use_mode(r, err);
	}
	ret = ptc_replay_set_image(r, err);
	if (ret < 0)
		return ret;
	ptc_branch_builder_set_code(&r->trail, r->code.as);
	r->code.version = ptc_addrspace_version(r->code.as);
	r->code.changed = false;
	return 0;
}
