/* SPDX-License-Identifier: MIT */
#include "decode/session/shard_choice.h"

#include <stdlib.h>

#include "auxtrace/record/cutout.h"
#include "base/err.h"
#include "decode/session/cutout_borders.h"
#include "decode/session/decode_input.h"
#include "decode/session/pass.h"
#include "decode/session/shard.h"

/* In front of a shard: so many, because some may not be decodable. */
enum { ENOUGH_BRANCHES = 4096 };

/*
 * Returns the earliest time of a border. Whether a break between CPUs is reported depends on all
 * earlier items, so the trace that may have such breaks is in the first shard.
 */
static uint64_t least_border_ns(const struct ptc_discontinuity *j)
{
	if (!j->nkept)
		return 0;
	return j->samples ? UINT64_MAX : j->until_ns;
}

/*
 * Returns where decoding begins for a part that begins at @from. With times, @from->arm is early
 * enough for the pending branch. The items in front are only complete with a branch of their own.
 */
static struct ptc_spot start_of(const struct ptc_stream *s, const struct ptc_queue_border *from,
				bool timed, bool wants_branch)
{
	struct ptc_spot at = from->arm;

	if (ptc_spot_is_begin(from->at) || (!timed && from->arm.span == s->n))
		return at;
	if (!timed || wants_branch)
		at = ptc_range_with_branches(s, from->at, ENOUGH_BRANCHES);
	return timed && ptc_spot_is_before(from->arm, at) ? from->arm : at;
}

static void set_parts(struct ptc_decode_input *in, const struct ptc_shard_trace *t,
		      const struct ptc_shard_border *from, const struct ptc_shard_border *to)
{
	size_t i;

	for (i = 0; i < in->nlanes; i++) {
		struct ptc_queue_decoder *l = &in->lanes[i];

		l->part = (struct ptc_queue_part){
			.on = true,
			.timed = t->clock->valid,
			.from = from ? ptc_shard_cut(t, from, i) : ptc_shard_begin(),
			.to = to ? ptc_shard_cut(t, to, i) : ptc_shard_end(t, i),
			.tells_before = in->opts.before,
		};
		l->start = start_of(&l->stream, &l->part.from, l->part.timed, in->opts.before);
	}
}

/* Chooses the shard of a cutout, whose borders are in the recording. */
static int choose_stored(struct ptc_pass *p, uint32_t i, uint32_t n, struct ptc_err *err)
{
	struct ptc_decode_input *in = p->in;
	const struct ptc_cutout *c = &in->cutout;
	size_t k;
	int rc = 0;

	if (i != c->i || n != c->n)
		return ptc_fail(err, PTC_E_USAGE,
				"the recording is shard %u of %u; use --shard %u/%u", c->i, c->n,
				c->i, c->n);
	for (k = 0; k < in->nlanes && !rc; k++) {
		struct ptc_queue_decoder *l = &in->lanes[k];

		rc = ptc_cutout_borders_set(l, c, err);
		l->part.tells_before = in->opts.before;
		if (!rc)
			l->start = start_of(&l->stream, &l->part.from, c->timed, in->opts.before);
	}
	if (c->timed) {
		p->shard.from_ns = c->from_ns;
		p->shard.to_ns = c->to_ns;
	}
	return rc;
}

int ptc_shard_get_cutout(struct ptc_pass *p, uint32_t i, uint32_t n, struct ptc_cutout *ret,
			 struct ptc_err *err)
{
	struct ptc_decode_input *in = p->in;
	struct ptc_spot *start = calloc(in->nlanes + 1, sizeof(*start));
	size_t k;
	int rc;

	if (!start)
		return ptc_fail_mem(err);
	*ret = (struct ptc_cutout){ .i = i, .n = n };
	rc = in->cutout.n ? ptc_fail(err, PTC_E_UNSUPPORTED,
				     "the recording is shard %u of %u already, and cannot be cut "
				     "again",
				     in->cutout.i, in->cutout.n) :
			    ptc_shard_choose(p, i, n, err);
	for (k = 0; k < in->nlanes && !rc; k++)
		start[k] = start_of(&in->lanes[k].stream, &in->lanes[k].part.from, in->clock.valid,
				    true);
	if (!rc)
		rc = ptc_cutout_borders_get(p, start, ret, err);
	free(start);
	return rc;
}

int ptc_shard_choose(struct ptc_pass *p, uint32_t i, uint32_t n, struct ptc_err *err)
{
	struct ptc_decode_input *in = p->in;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
	const struct ptc_stream **queues = calloc(in->nlanes + 1, sizeof(*queues));
	const struct ptc_shard_trace t = { .queues = queues,
					   .n = in->nlanes,
					   .clock = &in->clock,
					   .least_ns = least_border_ns(&in->joint) };
	struct ptc_shard_border from, to;
	size_t k;

	if (!queues)
		return ptc_fail_mem(err);
	if (in->cutout.n) {
		free(queues);
		return choose_stored(p, i, n, err);
	}
	for (k = 0; k < in->nlanes; k++)
		queues[k] = &in->lanes[k].stream;
	if (i > 1)
		from = ptc_shard_border_of(&t, i - 1, n);
	if (i < n)
		to = ptc_shard_border_of(&t, i, n);
	set_parts(in, &t, i > 1 ? &from : NULL, i < n ? &to : NULL);
	if (in->clock.valid) {
		p->shard.from_ns = i > 1 ? from.ns : 0;
		p->shard.to_ns = i < n ? to.ns : UINT64_MAX;
	}
	free(queues);
	return 0;
}
