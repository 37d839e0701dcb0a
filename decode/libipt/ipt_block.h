/* SPDX-License-Identifier: MIT */
/*
 * Makes libipt's blocks independent of its cache. libipt ends a block early if it finds the
 * following code in its cache, or has added much to the cache. The code behind such an end is part
 * of the same block.
 */
#ifndef PTC_DECODE_LIBIPT_IPT_BLOCK_H
#define PTC_DECODE_LIBIPT_IPT_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <intel-pt.h>

/* Does the flow simply continue behind @b? */
static inline bool ptc_ipt_is_cut(const struct pt_block *b)
{
	return b->iclass == ptic_other || b->iclass == ptic_ptwrite;
}

/*
 * Join the code behind @b, which is cut, to @b, and add it to @insns, the total instructions of @b.
 * The total may exceed what libipt can count. Once it reaches @most, no more code is joined.
 * @status: the result of getting @b. Returns the result of getting the last code.
 */
int ptc_ipt_join_blocks(struct pt_block_decoder *dec, int status, struct pt_block *b,
			uint32_t *insns, uint32_t most);

/*
 * Does @b, with @insns instructions, continue in the next block? True if @most ended the joining.
 */
bool ptc_ipt_is_part(int status, const struct pt_block *b, uint32_t insns, uint32_t most);

/* pt_blk_next() with joining. *@ret_insns: the instructions of the block. @most: as above. */
static inline int ptc_ipt_next_block(struct pt_block_decoder *dec, struct pt_block *b,
				     uint32_t *ret_insns, uint32_t most)
{
	const int status = pt_blk_next(dec, b, sizeof(*b));

	*ret_insns = b->ninsn;
	return ptc_ipt_is_cut(b) ? ptc_ipt_join_blocks(dec, status, b, ret_insns, most) : status;
}

#endif
