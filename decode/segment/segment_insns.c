/* SPDX-License-Identifier: MIT */
/*
 * With opts.insns: hands over the instructions of a segment. Between two branches of the segment
 * the code runs straight on, so the lengths of the instructions give all addresses.
 */
#include "decode/libipt/replay_state.h"
#include "decode/segment/segment.h"

/* Instructions in a step, if only one item was asked for. */
enum { FEW = 16 };

/* Returns the next branch of the segment, or NULL. */
static const struct ptc_fast_rec *next_branch(const struct ptc_segment *p)
{
	return p->next < p->nall ? &p->recs[p->next] : NULL;
}

static void follow_branch(struct ptc_segment *p)
{
	p->ip = p->recs[p->next++].to;
}

/* Follows the branches in front of the next instruction that are no instructions. */
static const struct ptc_fast_rec *pass_events(struct ptc_segment *p)
{
	const struct ptc_fast_rec *b;

	while ((b = next_branch(p)) != NULL) {
		const enum ptc_kind kind = ptc_fast_rec_kind(*b);

		if (kind != PTC_KIND_START &&
		    (kind != PTC_KIND_ASYNC || ptc_fast_rec_from(*b) != p->ip))
			break;
		follow_branch(p);
	}
	return b;
}

/* Lists the next instruction, and goes on behind it. */
static void list_insn(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;
	const struct ptc_fast_rec *b = pass_events(p);
	const uint64_t ip = p->ip;
	const uint8_t len = ptc_branch_builder_insn(&r->trail, ip, r->code.mode, r->time.now);

	p->ran_insns++;
	if (b && ptc_fast_rec_from(*b) == ip)
		follow_branch(p);
	else if (len)
		p->ip += len;
	else /* As libipt's blocks: at least the last instruction is known. */
		p->ip = b ? ptc_fast_rec_from(*b) : p->last_ip;
}

bool ptc_segment_step_insns(struct ptc_replay *r, size_t max)
{
	struct ptc_segment *p = &r->piece;
	size_t left = max > FEW ? max : FEW;
	uint64_t end;

	for (;;) {
		end = p->next_mark < p->nmarks ? p->marks[p->next_mark].insns : p->insns;
		for (; p->ran_insns < end && left; left--)
			list_insn(r);
		if (p->ran_insns < end)
			return false;
		if (p->next_mark == p->nmarks)
			return true;
		r->time.now = p->marks[p->next_mark++].tsc;
		if (p->ran_insns < p->insns)
			return false;
	}
}
