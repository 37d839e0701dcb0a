/* SPDX-License-Identifier: MIT */
/* Hands over the items of a segment that libipt decoded before its turn. */
#include <stdlib.h>
#include <string.h>

#include "decode/libipt/replay_state.h"
#include "decode/segment/segment.h"

/* Returns true if @m begins as the replay stands, and nothing else happens in it. */
static bool fits(const struct ptc_replay *r, const struct ptc_result *m)
{
	const struct ptc_result_step *end = &r->made->room.steps[m->steps + m->nsteps - 1];

	if (ptc_replay_is_busy(r) || r->in_block || m->pid != r->out.pid || m->tid != r->out.tid ||
	    m->cpu != r->out.cpu || m->version != ptc_addrspace_version(r->code.as) ||
	    m->mode_before != r->code.mode || m->begin_ns != r->time.now ||
	    m->bound != r->time.bound || (r->trail.last.valid && (!m->on || m->land == SIZE_MAX)))
		return false;
	if (r->time.told != PTC_NO_TIME && r->time.told > m->begin_ns)
		return false;
	/* If time went back, records of later times have been applied. */
	if (r->conf.clock.valid && r->applied > m->begin_ns)
		return false;
	if (r->conf.to_ns && end->now >= r->conf.to_ns)
		return false;
	if (ptc_spot_is_before(r->limit, (struct ptc_spot){ r->span, m->end }))
		return false;
	return r->next_mark >= r->conf.nmarks ||
	       r->conf.marks[r->next_mark].off > span_of(r)->base + m->end;
}

const struct ptc_result *ptc_segment_take_items(struct ptc_replay *r)
{
	const struct ptc_result_room *room;
	struct ptc_segment *p = &r->piece;
	struct ptc_result *m;

	if (!r->made)
		return NULL;
	m = ptc_result_list_find(r->made, (struct ptc_spot){ r->span, r->place.from });
	if (!m || !m->items || !fits(r, m))
		return NULL;
	ptc_out_keep(&r->out);
	room = &r->made->room;
	r->made->taken++;
	r->piece = (struct ptc_segment){ .active = true,
					 .ahead = true,
					 .items = true,
					 .own = p->own,
					 .lender = &r->made->room,
					 .its = room->items + m->recs,
					 .n = m->n,
					 .steps = room->steps + m->steps,
					 .nsteps = m->nsteps,
					 .land = m->ip,
					 .land_step = r->trail.last.valid ? m->land : SIZE_MAX,
					 .end = m->end,
					 .time = r->time.now,
					 .told = m->told,
					 .stats = m->stats,
					 .notes = m->notes,
					 .has_last = m->last.how != PTC_FAST_LAST_NONE,
					 .last_kind = m->last.kind,
					 .last_len = m->last.len,
					 .last_ip = m->last.ip,
					 .last_time = m->last_time,
					 .stays_on = true };
	m->notes = NULL;
	r->parked = false;
	return m;
}

static void add_stats(struct ptc_decode_stats *to, const struct ptc_decode_stats *s)
{
	size_t i;

	to->insns += s->insns;
	to->branches += s->branches;
	for (i = 0; i < PTC_GAP_COUNT; i++)
		to->gaps[i] += s->gaps[i];
}

static void end_items(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;

	p->active = false;
	add_stats(r->conf.stats, &p->stats);
	if (p->notes) {
		ptc_notes_take(r->conf.notes, p->notes);
		ptc_notes_release(p->notes);
		free(p->notes);
		p->notes = NULL;
	}
	/* These were listed already. */
	while (ptc_mask_next(&r->window.mask, p->end))
		ptc_mask_take(&r->window.mask);
	r->idle = 0;
	r->time.told = p->told;
}

bool ptc_segment_step_items(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;
	const struct ptc_result_step *s = &p->steps[p->next_step];
	const size_t n = s->n - p->next;

	if (p->next_step == p->land_step) {
		ptc_branch_builder_land(&r->trail, p->land);
		r->trail.last.valid = false;
		p->land_step = SIZE_MAX;
	}
	if (n) {
		if (!ptc_out_reserve(&r->out, n))
			return false;
		memcpy(r->out.items + r->out.n, p->its + p->next, n * sizeof(*p->its));
		r->out.n += n;
		ptc_out_saw(&r->out, s->newest);
		p->next = s->n;
	}
	r->time.now = s->now;
	r->place.off = s->off;
	if (p->land_step == SIZE_MAX) {
		/* No item to come is earlier than s->low. */
		r->trail.last.valid = s->low < s->now;
		r->trail.last.time = s->low;
	}
	if (++p->next_step < p->nsteps)
		return false;
	end_items(r);
	return true;
}
