/* SPDX-License-Identifier: MIT */
#include "decode/libipt/ipt_block.h"

/* Does @b go on? Not in front of an event, or of another mode: callers handle these. */
static bool block_continues(int status, const struct pt_block *b)
{
	return status >= 0 && !(status & pts_event_pending) && ptc_ipt_is_cut(b);
}

int ptc_ipt_join_blocks(struct pt_block_decoder *dec, int status, struct pt_block *b,
			uint32_t *insns, uint32_t most)
{
	struct pt_block next;

	while (b->ninsn && *insns < most && block_continues(status, b)) {
		status = pt_blk_next(dec, &next, sizeof(next));
		if (!next.ninsn)
			break;
		b->end_ip = next.end_ip;
		b->iclass = next.iclass;
		*insns += next.ninsn;
	}
	return status;
}

bool ptc_ipt_is_part(int status, const struct pt_block *b, uint32_t insns, uint32_t most)
{
	return insns >= most && block_continues(status, b);
}
