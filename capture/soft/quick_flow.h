/* SPDX-License-Identifier: MIT */
/*
 * ptc_flow_line and ptc_flow_lead for the most frequent blocks, inline. Each function does nothing
 * and returns false if a packet is due, or if branch stacks are wanted.
 */
#ifndef PTC_CAPTURE_SOFT_QUICK_FLOW_H
#define PTC_CAPTURE_SOFT_QUICK_FLOW_H

#include "capture/soft/encoder_state.h"
#include "capture/soft/insn_to_packets.h"

static inline bool ptc_flow_is_quiet(const struct ptc_flow *f, uint64_t tsc)
{
	return !f->lbr && ptc_enc_is_quiet(f->enc, tsc);
}

/* A packet or a TNT bit reports the position: cycle detection starts again. */
static inline void ptc_flow_restart_circles(struct ptc_flow *f)
{
	f->steps = 0;
	f->limit = 2;
	f->circles = false;
}

static inline void ptc_flow_note(struct ptc_flow *f, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	f->transfers++;
	if (f->truth)
		f->truth(f->truth_ctx, f->tid, from, to, kind);
}

/* @n instructions from @ip on retired. No branch is among them. */
static inline bool ptc_flow_quick_line(struct ptc_flow *f, uint64_t ip, uint64_t n, uint64_t tsc)
{
	if (!ptc_flow_is_quiet(f, tsc))
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
	if (!ptc_flow_is_quiet(f, tsc) || !ptc_enc_quick_cond(f->enc, taken))
		return false;
	f->insns += n;
	ptc_flow_restart_circles(f);
	f->transfers += taken;
	if (f->truth && taken) /* without a truth, no jump depends on the direction */
		f->truth(f->truth_ctx, f->tid, ip, to, PTC_KIND_JCC);
	return true;
}

/*
 * @n instructions from @ip on retired. The last one was the direct jump or call @insn at @last, and
 * led to its target.
 */
static inline bool ptc_flow_quick_direct(struct ptc_flow *f, const struct ptc_insn *insn,
					 uint64_t ip, uint64_t n, uint64_t last, uint64_t tsc)
{
	const uint64_t next = last + insn->len;

	if (!ptc_flow_quick_line(f, ip, n, tsc))
		return false;
	ptc_flow_circle(f, insn->target);
	ptc_flow_note(f, last, insn->target, (enum ptc_kind)insn->kind);
	if (insn->kind == PTC_KIND_CALL && insn->target != next)
		ptc_enc_quick_push(f->enc, next);
	return true;
}

/* @n instructions retired. The last one was a near return at @ip, and led to @to. */
static inline bool ptc_flow_quick_ret(struct ptc_flow *f, uint64_t n, uint64_t ip, uint64_t to,
				      uint64_t tsc)
{
	if (!ptc_flow_is_quiet(f, tsc) || !ptc_enc_quick_ret(f->enc, to))
		return false;
	f->insns += n;
	ptc_flow_restart_circles(f);
	ptc_flow_note(f, ip, to, PTC_KIND_RET);
	return true;
}

#endif
