/* SPDX-License-Identifier: MIT */
/*
 * ptc_flow_line and ptc_flow_lead for the most frequent blocks, inline. Each function does nothing
 * and returns false if a packet is due, or if branch stacks are wanted.
 */
#ifndef PTC_CAPTURE_SOFT_QUICK_FLOW_H
#define PTC_CAPTURE_SOFT_QUICK_FLOW_H

#include "capture/soft/encoder_state.h"
#include "capture/soft/insn_to_packets.h"

/* @n instructions from @ip on retired. No branch is among them. */
static inline bool ptc_flow_quick_line(struct ptc_flow *f, uint64_t ip, uint64_t n, uint64_t tsc)
{
	if (f->lbr || !ptc_enc_is_quiet(f->enc, tsc))
		return false;
	if (!f->steps) { /* the last packet reported this position */
		f->steps = 1;
		f->mark = ip;
	}
	f->insns += n;
	return true;
}

/*
 * @n instructions retired. The last one was a jcc at @ip, whose target is not the next instruction.
 * If it was @taken, it led to @to.
 */
static inline bool ptc_flow_quick_cond(struct ptc_flow *f, uint64_t n, uint64_t ip, uint64_t to,
				       bool taken, uint64_t tsc)
{
	if (f->lbr || !ptc_enc_is_quiet(f->enc, tsc) || !ptc_enc_quick_cond(f->enc, taken))
		return false;
	f->insns += n;
	f->steps = 0; /* a packet reports the position */
	f->limit = 2;
	f->circles = false;
	f->transfers += taken;
	if (taken && f->truth)
		f->truth(f->truth_ctx, f->tid, ip, to, PTC_KIND_JCC);
	return true;
}

#endif
