/* SPDX-License-Identifier: MIT */
/*
 * The trace unit's steps for most blocks, inline: for blocks that are known and unchanged, behind
 * blocks whose end makes no packet.
 */
#ifndef PTC_CAPTURE_EMU_QUICK_BLOCKS_H
#define PTC_CAPTURE_EMU_QUICK_BLOCKS_H

#include "capture/emu/guest_maps.h"
#include "capture/emu/trace_unit.h"
#include "capture/soft/quick_flow.h"

/* Words between a word and the memory that is fetched for it. */
enum { PTC_EMU_AHEAD = 12, PTC_EMU_FAR_AHEAD = 24 };

/* Fetches the line of a later block of @ring, and what leads to the line of a block behind it. */
static inline void ptc_emu_fetch_ahead(const struct ptc_emu_code *c, const uint32_t *ring,
				       uint64_t pos)
{
	const uint32_t near = ring[(pos + PTC_EMU_AHEAD) % PTC_EMU_WORDS];
	const uint32_t far = ring[(pos + PTC_EMU_FAR_AHEAD) % PTC_EMU_WORDS];
	const struct ptc_emu_line *line;

	if (far < c->places)
		__builtin_prefetch(&c->index[far]);
	/* It may be a part of an event. */
	if (near >= c->places || !c->index[near])
		return;
	line = &c->lines[c->index[near] - 1];
	__builtin_prefetch(line);
}

/* The block @p ended, and led to @to. */
static inline bool ptc_emu_leave_quickly(struct ptc_flow *f, const struct ptc_emu_line *p,
					 uint64_t to, uint64_t tsc)
{
	const struct ptc_insn *insn = &p->insn;
	const bool onward = to == ptc_emu_line_end(p), taken = to == insn->target;

	/* One condition, because the direction is hard to predict. */
	if (insn->kind == PTC_KIND_JCC)
		return (onward ^ taken) && ptc_flow_quick_cond(f, p->n, p->last, to, taken, tsc);
	switch ((enum ptc_kind)insn->kind) {
	case PTC_KIND_NONE:
		return onward && insn->len && !insn->rep && !ptc_emu_vsyscall(p->start) &&
		       ptc_flow_quick_line(f, p->start, p->n, tsc);
	case PTC_KIND_JMP:
	case PTC_KIND_CALL:
		return taken && ptc_flow_quick_direct(f, insn, p->start, p->n, p->last, tsc);
	case PTC_KIND_RET:
		return ptc_flow_quick_ret(f, p->n, p->last, to, tsc);
	default:
		return false;
	}
}

/*
 * Enters the block at @place, if the block is known and unchanged, and if the end of the last block
 * makes no packet. Returns false, without an effect, in all other cases.
 */
static inline bool ptc_emu_enter_quickly(struct ptc_emu_unit *u, struct ptc_emu_task *k,
					 uint32_t place)
{
	const uint32_t number = place < u->code.places ? u->code.index[place] : 0;
	const struct ptc_emu_line *line, *p;

	if (!number || !k->pending || k->cpu->running != k)
		return false;
	p = &u->code.lines[k->pending - 1];
	line = &u->code.lines[number - 1];
	if (line->epoch != k->proc->epoch || !line->told ||
	    (line->n == 1 && line->insn.kind == PTC_KIND_NONE))
		return false;
	if (!ptc_emu_leave_quickly(&k->cpu->flow, p, line->start, u->tsc))
		return false;
	k->pending = number;
	return true;
}

#endif
