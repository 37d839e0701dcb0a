/* SPDX-License-Identifier: MIT */
#include "decode/session/shard_queue.h"

#include "decode/items/branch_counts.h"
#include "decode/segment/queue_decoder.h"

static bool is_at(const struct ptc_queue_decoder *l, struct ptc_spot spot)
{
	return !ptc_spot_is_before(ptc_replay_flow_spot(l->replay), spot);
}

/* Returns true if no item in front of @ns is to come. */
static bool is_past(const struct ptc_queue_decoder *l, uint64_t ns)
{
	return ptc_replay_time(l->replay) >= ns && ptc_replay_low(l->replay) >= ns;
}

/* Returns the time from which on items belong to later shards; 0: none do yet. */
static uint64_t end_ns(const struct ptc_queue_part *p)
{
	return p->timed && p->armed && p->to.ns != UINT64_MAX ? p->to.ns : 0;
}

/* Returns true if a segment may begin here whose times are all at or behind the border. */
static bool is_at_border(const struct ptc_queue_decoder *l)
{
	return ptc_replay_is_at_psb(l->replay) && ptc_replay_time(l->replay) >= l->part.from.ns;
}

/*
 * Returns true if the next segment has items on both sides of a border, or in front of the part.
 * Such a segment is listed, because a segment that is only counted cannot be divided. A segment
 * that begins at the border, with an earlier pending branch, may be counted: that branch is an item
 * of its own.
 */
static bool is_across_border(const struct ptc_queue_decoder *l)
{
	const struct ptc_queue_part *p = &l->part;

	if (p->before)
		return !p->timed || !is_at_border(l);
	return end_ns(p) && ptc_replay_time(l->replay) < p->to.ns;
}

/*
 * Sets which instructions count. Also sets how the engine makes the next segment. Behind the end,
 * only the pending branch is wanted, and libipt finds it without the rest of the segment.
 */
static void set_times(struct ptc_queue_decoder *l)
{
	const struct ptc_queue_part *p = &l->part;
	const uint64_t to = end_ns(p);
	const bool across = is_across_border(l);

	ptc_replay_set_before(l->replay, p->before);
	ptc_replay_set_listing(l->replay, across);
	if (p->timed)
		ptc_replay_set_times(l->replay, across ? 0 : to, p->from.ns, to);
	else
		ptc_replay_set_times(l->replay, 0, p->before || p->armed ? UINT64_MAX : 0, 0);
}

/*
 * Updates the state for the place of the replay. A gap without a time belongs to the part in which
 * it begins. With times, such a gap is damage where decoding began.
 */
static void look_at_borders(struct ptc_queue_decoder *l)
{
	struct ptc_queue_part *p = &l->part;
	const bool gap = ptc_replay_has_open_gap(l->replay);

	if (p->before && (!p->timed || !ptc_spot_is_begin(l->start)))
		p->first_gap = gap;
	if (p->before && (p->timed ? is_past(l, p->from.ns) : is_at(l, p->from.arm)))
		p->before = false;
	if (!p->armed && is_at(l, p->to.arm)) {
		p->armed = true;
		p->last_gap = gap && !p->first_gap;
	}
}

/* Decides which of the new items of a step belong to the part. */
struct sifting {
	struct ptc_queue_part *part;
	struct ptc_decode_stats *stats;
	bool all_before; /* without times: all items are in front of the part */
	bool all_behind; /* without times: all items are behind the part */
	bool gap_goes;	 /* the first gap is in front of the part */
	bool gap_stays;	 /* the first gap belongs to the part */
};

static void uncount(struct ptc_decode_stats *stats, const struct ptc_item *it)
{
	if (it->type == PTC_ITEM_BRANCH)
		stats->branches--;
	else if (it->type == PTC_ITEM_RUN)
		stats->branches -= it->to;
	else if (it->type == PTC_ITEM_GAP)
		stats->gaps[it->cause]--;
}

/* An item in front of the part: the caller may want it for its context. */
static bool keep_before(const struct sifting *s, struct ptc_item *it)
{
	uncount(s->stats, it);
	it->flags |= PTC_ITEM_BEFORE;
	return s->part->tells_before;
}

static bool keep_item(void *ctx, struct ptc_item *it)
{
	struct sifting *s = ctx;
	const struct ptc_queue_part *p = s->part;
	const uint64_t time = it->time == PTC_NO_TIME ? 0 : it->time, to = end_ns(p);

	if (it->type == PTC_ITEM_GAP && (s->gap_goes || s->gap_stays)) {
		const bool stays = s->gap_stays;

		s->gap_goes = s->gap_stays = false;
		return stays || keep_before(s, it);
	}
	if (s->all_before || (p->before && time < p->from.ns))
		return keep_before(s, it);
	if (!s->all_behind && (!to || time < to))
		return true;
	uncount(s->stats, it);
	return false;
}

bool ptc_shard_queue_begin(struct ptc_queue_decoder *l)
{
	struct ptc_queue_part *p = &l->part;

	p->before = p->timed ? p->from.ns > 0 : !ptc_spot_is_begin(p->from.arm);
	p->armed = p->first_gap = p->last_gap = false;
	if (p->timed ? p->from.ns >= p->to.ns : !ptc_spot_is_before(p->from.arm, p->to.arm))
		return false;
	ptc_replay_set_limit(l->replay, p->to.arm);
	look_at_borders(l);
	set_times(l);
	return true;
}

/* Steps away from the borders. */
static int step_inside(struct ptc_queue_decoder *l, struct ptc_scheduler *plan, struct ptc_err *err)
{
	const int r = ptc_queue_decoder_steps(l, plan, err);

	if (r == 1 && is_at(l, l->part.to.arm)) {
		look_at_borders(l);
		set_times(l);
	}
	return r;
}

int ptc_shard_queue_steps(struct ptc_queue_decoder *l, struct ptc_scheduler *plan,
			  struct ptc_decode_stats *stats, struct ptc_err *err)
{
	struct ptc_queue_part *p = &l->part;
	const struct ptc_out *o = ptc_replay_out(l->replay);
	const size_t waiting = o->n - o->head;
	struct sifting s = { .part = p,
			     .stats = stats,
			     .all_before = p->before && !p->timed,
			     .all_behind = p->armed && !p->timed };
	int r;

	if (!p->before && !p->armed && !p->first_gap)
		return step_inside(l, plan, err);
	s.gap_stays = p->last_gap;
	s.gap_goes = p->first_gap;
	set_times(l);
	r = ptc_queue_decoder_steps(l, plan, err);
	if (r < 0 || r == PTC_QUEUE_DECODER_PASS)
		return r;
	ptc_out_sift(ptc_replay_out(l->replay), o->head + waiting, keep_item, &s);
	p->first_gap &= ptc_replay_has_open_gap(l->replay);
	p->last_gap &= ptc_replay_has_open_gap(l->replay);
	look_at_borders(l);
	set_times(l);
	return r;
}

bool ptc_shard_queue_is_over(const struct ptc_queue_decoder *l)
{
	const struct ptc_queue_part *p = &l->part;

	/* The instructions of a segment count when all of it is handed over. */
	if (!p->armed || p->last_gap || ptc_replay_is_in_piece(l->replay))
		return false;
	return !p->timed || (p->to.ns != UINT64_MAX && is_past(l, p->to.ns));
}

/* The gap of a loss is at its time, or in front of the trace. */
static bool keep_lost(void *ctx, struct ptc_item *it)
{
	const struct sifting *s = ctx;
	const struct ptc_queue_part *p = s->part;
	const uint64_t time = it->time == PTC_NO_TIME ? 0 : it->time;

	if (it->type != PTC_ITEM_GAP || it->cause != PTC_GAP_LOST || it->to ||
	    it->flags & PTC_ITEM_BEFORE)
		return true;
	if (p->timed ? time >= p->from.ns && time < p->to.ns : !s->all_before)
		return true;
	uncount(s->stats, it);
	return false;
}

void ptc_shard_queue_lost(struct ptc_queue_decoder *l, struct ptc_decode_stats *stats)
{
	struct sifting s = { .part = &l->part,
			     .stats = stats,
			     .all_before = !l->live || l->part.before };
	struct ptc_out *o = ptc_replay_out(l->replay);

	ptc_out_sift(o, o->head, keep_lost, &s);
}
