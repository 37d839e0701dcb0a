/* SPDX-License-Identifier: MIT */
/*
 * libipt's blocks, the same whatever it has in its cache. It ends one too early where it finds the
 * code behind it in the cache, or has added much to it: what is behind that is the same block.
 */
#ifndef PTC_DECODE_IPT_BLOCK_H
#define PTC_DECODE_IPT_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <intel-pt.h>

/* Does the flow just go on behind @b? */
static inline bool ptc_ipt_is_cut(const struct pt_block *b)
{
	return b->iclass == ptic_other || b->iclass == ptic_ptwrite;
}

/*
 * What follows @b, which is cut, becomes part of it, and of @insns, those it has in all: more than
 * libipt can count, but once it has @most no other one is joined. @status is that of getting it;
 * returns that of getting what is behind it.
 */
int ptc_ipt_join_blocks(struct pt_block_decoder *dec, int status, struct pt_block *b,
			uint32_t *insns, uint32_t most);

/* Does @b, which has @insns instructions, go on in the next one? Then joining it was ended by most.
 */
bool ptc_ipt_is_part(int status, const struct pt_block *b, uint32_t insns, uint32_t most);

/* pt_blk_next. *@ret_insns are the instructions that the block has. @most: as above. */
static inline int ptc_ipt_next_block(struct pt_block_decoder *dec, struct pt_block *b,
				     uint32_t *ret_insns, uint32_t most)
{
	const int status = pt_blk_next(dec, b, sizeof(*b));

	*ret_insns = b->ninsn;
	return ptc_ipt_is_cut(b) ? ptc_ipt_join_blocks(dec, status, b, ret_insns, most) : status;
}

#endif
