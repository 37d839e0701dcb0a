/* SPDX-License-Identifier: MIT */
#include "decode/session/cutout_borders.h"

#include <stdlib.h>

#include "auxtrace/record/cutout.h"
#include "base/err.h"
#include "decode/session/decode_input.h"
#include "decode/session/pass.h"

/*
 * Trace behind the shard: the decoder reads on until the pending branch has its time, and the
 * engines look at the next PSB+. If damage needs more, decoding the cutout fails, see pass.c.
 */
enum { BEHIND = 4 << 10, PSBS_BEHIND = 2 };

static uint64_t offset_of_spot(const struct ptc_stream *s, struct ptc_spot p)
{
	return p.span < s->n ? s->spans[p.span].base + p.off : PTC_CUTOUT_END;
}

static bool spot_of_offset(const struct ptc_stream *s, uint64_t off, struct ptc_spot *ret)
{
	size_t i;

	if (off == PTC_CUTOUT_END) {
		*ret = (struct ptc_spot){ s->n, 0 };
		return true;
	}
	for (i = 0; i < s->n; i++)
		if (off >= s->spans[i].base && off - s->spans[i].base < s->spans[i].len) {
			*ret = (struct ptc_spot){ i, (size_t)(off - s->spans[i].base) };
			return true;
		}
	return false;
}

/* Does each offset name one place? */
static bool is_ascending(const struct ptc_stream *s)
{
	size_t i;

	for (i = 1; i < s->n; i++)
		if (s->spans[i].base < s->spans[i - 1].base + s->spans[i - 1].len)
			return false;
	return true;
}

/* Returns the place @bytes behind @p, or the end. */
static struct ptc_spot move_on(const struct ptc_stream *s, struct ptc_spot p, size_t bytes)
{
	while (p.span < s->n && bytes >= s->spans[p.span].len - p.off) {
		bytes -= s->spans[p.span].len - p.off;
		p = (struct ptc_spot){ p.span + 1, 0 };
	}
	if (p.span < s->n)
		p.off += bytes;
	return p;
}

/* Returns the end of the trace that a decoder needs up to @p. */
static struct ptc_spot end_behind(const struct ptc_stream *s, struct ptc_spot p)
{
	int psbs = 0;

	p = move_on(s, p, BEHIND);
	for (; p.span < s->n; p = (struct ptc_spot){ p.span + 1, 0 }) {
		const struct ptc_span *sp = &s->spans[p.span];

		for (;; p.off++) {
			p.off = ptc_span_next_psb(sp, p.off);
			if (p.off == sp->len)
				break;
			if (++psbs == PSBS_BEHIND)
				return p;
		}
	}
	return p;
}

int ptc_cutout_borders_get(const struct ptc_pass *p, const struct ptc_spot *start,
			   struct ptc_cutout *ret, struct ptc_err *err)
{
	size_t k;

	ret->timed = p->in->clock.valid;
	ret->from_ns = p->shard.from_ns;
	ret->to_ns = p->shard.to_ns;
	ret->queues = calloc(p->in->nlanes + 1, sizeof(*ret->queues));
	if (!ret->queues)
		return ptc_fail_mem(err);
	for (k = 0; k < p->in->nlanes; k++) {
		const struct ptc_queue_decoder *l = &p->in->lanes[k];
		const struct ptc_stream *s = &l->stream;

		if (l->snapshots)
			return ptc_fail(err, PTC_E_UNSUPPORTED,
					"snapshots and trace in samples cannot be cut into files; "
					"`ptcap decode --shard` decodes a part of them");
		if (!is_ascending(s))
			return ptc_fail(err, PTC_E_UNSUPPORTED,
					"the trace of queue %u cannot be cut into files: its "
					"offsets contradict each other",
					l->idx);
		/* One more PSB in front: decoding begins behind the first byte of the file, as in
		 * the whole recording. */
		ret->queues[ret->nqueues++] = (struct ptc_cutout_queue){
			.idx = l->idx,
			.from_arm = offset_of_spot(s, l->part.from.arm),
			.from_at = offset_of_spot(s, l->part.from.at),
			.to_arm = offset_of_spot(s, l->part.to.arm),
			.to_at = offset_of_spot(s, l->part.to.at),
			.keep_from = offset_of_spot(s, ptc_range_back(s, start[k], 1)),
			.keep_to = offset_of_spot(s, end_behind(s, l->part.to.at)),
		};
	}
	return 0;
}

/* Returns whether the trace that @q names is there. */
static bool is_whole(const struct ptc_stream *s, const struct ptc_cutout_queue *q)
{
	struct ptc_spot spot;

	return spot_of_offset(s, q->keep_from, &spot) &&
	       (q->keep_to == PTC_CUTOUT_END || spot_of_offset(s, q->keep_to - 1, &spot));
}

/* Can a decoder begin at @p? */
static bool is_place(const struct ptc_stream *s, struct ptc_spot p)
{
	return ptc_spot_is_begin(p) || p.span == s->n ||
	       ptc_span_next_psb(&s->spans[p.span], p.off) == p.off;
}

/* Returns whether the borders can be those of a shard. A recording may be damaged. */
static bool is_valid(const struct ptc_stream *s, const struct ptc_queue_part *p)
{
	return is_place(s, p->from.arm) && is_place(s, p->from.at) && is_place(s, p->to.arm) &&
	       is_place(s, p->to.at) && !ptc_spot_is_before(p->from.at, p->from.arm) &&
	       !ptc_spot_is_before(p->to.arm, p->from.arm) &&
	       !ptc_spot_is_before(p->to.at, p->to.arm) &&
	       !ptc_spot_is_before(p->to.at, p->from.at);
}

int ptc_cutout_borders_set(struct ptc_queue_decoder *l, const struct ptc_cutout *c,
			   struct ptc_err *err)
{
	const struct ptc_cutout_queue *q = ptc_cutout_find(c, l->idx);
	const struct ptc_stream *s = &l->stream;
	struct ptc_queue_part part = { .on = true, .timed = c->timed };

	if (!q || !is_whole(s, q) || !spot_of_offset(s, q->from_arm, &part.from.arm) ||
	    !spot_of_offset(s, q->from_at, &part.from.at) ||
	    !spot_of_offset(s, q->to_arm, &part.to.arm) ||
	    !spot_of_offset(s, q->to_at, &part.to.at) || !is_valid(s, &part))
		return ptc_fail(err, PTC_E_FORMAT,
				"trace of shard %u of %u is missing in queue %u; cut the whole "
				"recording again with `ptcap convert --shard`",
				c->i, c->n, l->idx);
	part.from.ns = c->from_ns;
	part.to.ns = c->timed ? c->to_ns : 0;
	part.is_cut = q->keep_to != PTC_CUTOUT_END;
	l->part = part;
	return 0;
}
