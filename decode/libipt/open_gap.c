/* SPDX-License-Identifier: MIT */
/* The open gap: a gap that may still grow. It is listed when something behind it is decoded. */
#include <stdlib.h>

#include "decode/image/diagnostics.h"
#include "decode/libipt/replay_state.h"

void ptc_replay_list_gap(struct ptc_replay *r, uint64_t time)
{
	const int32_t pid = r->out.pid, tid = r->out.tid, cpu = r->out.cpu;

	if (!r->gap.open)
		return;
	r->gap.open = false;
	r->gap.cost = NULL;
	/* The gap belongs to the thread that ran when the gap began. */
	r->out.pid = r->gap.pid;
	r->out.tid = r->gap.tid;
	r->out.cpu = r->gap.cpu;
	if (r->gap.time != PTC_NO_TIME)
		time = r->gap.time;
	ptc_out_gap(&r->out, r->gap.cause, r->gap.off, r->gap.end - r->gap.off, time);
	r->out.pid = pid;
	r->out.tid = tid;
	r->out.cpu = cpu;
}

void ptc_replay_list_marks(struct ptc_replay *r, uint64_t upto, uint64_t time)
{
	time = not_before(r->time.told, time);
	for (; r->next_mark < r->conf.nmarks && r->conf.marks[r->next_mark].off <= upto;
	     r->next_mark++) {
		ptc_replay_list_gap(r, time);
		ptc_out_gap(&r->out, r->conf.marks[r->next_mark].cause,
			    r->conf.marks[r->next_mark].off, r->conf.marks[r->next_mark].len, time);
	}
}

void ptc_replay_begin_gap(struct ptc_replay *r, enum ptc_gap_cause cause, size_t off)
{
	if (r->gap.open) {
		if (r->gap.off > span_of(r)->base + off)
			r->gap.off = span_of(r)->base + off;
		return;
	}
	r->gap.open = true;
	r->gap.cause = cause;
	r->gap.off = span_of(r)->base + off;
	r->gap.end = r->gap.off;
	r->gap.time = r->time.now;
	r->gap.pid = r->out.pid;
	r->gap.tid = r->out.tid;
	r->gap.cpu = r->out.cpu;
}

void ptc_replay_end_gap(struct ptc_replay *r, size_t off)
{
	r->gap.end = span_of(r)->base + off;
}

void ptc_replay_tell_of(struct ptc_replay *r, size_t off)
{
	ptc_replay_begin_gap(r, PTC_GAP_DESYNC, off);
	ptc_replay_end_gap(r, off);
}

void ptc_replay_charge_gap(struct ptc_replay *r, size_t off)
{
	const struct ptc_span *sp = span_of(r);
	const size_t from = r->gap.end > sp->base ? (size_t)(r->gap.end - sp->base) : 0;
	uint8_t *copy;

	if (!r->gap.cost || from >= off)
		return;
	if (sp->bytes) {
		ptc_cost_add(r->gap.cost, sp->bytes + from, off - from);
		return;
	}
	copy = malloc(off - from);
	if (!copy)
		return;
	ptc_span_read(sp, from, copy, off - from);
	ptc_cost_add(r->gap.cost, copy, off - from);
	free(copy);
}
