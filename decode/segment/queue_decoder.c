/* SPDX-License-Identifier: MIT */
#include "decode/segment/queue_decoder.h"

#include "decode/segment/work_unit.h"
#include "decode/segment/worker_pool.h"

static const struct ptc_spot NOWHERE = { SIZE_MAX, SIZE_MAX };

/*
 * Returns the work unit that the replay is in, whose segments it may take, or NULL. Drops passed
 * work units.
 */
static struct ptc_work_unit *slice_here(struct ptc_scheduler *p, struct ptc_queue_decoder *l)
{
	const struct ptc_spot at = ptc_replay_spot(l->replay);

	while (l->nplanned && !ptc_spot_is_before(at, l->planned[0]->stop)) {
		ptc_pool_await(p->jobs, l->planned[0]);
		ptc_replay_set_made(l->replay, NULL);
		l->serving = NULL;
		ptc_scheduler_drop(p, l);
	}
	return l->nplanned && !ptc_spot_is_before(at, l->planned[0]->conf.start) ? l->planned[0] :
										   NULL;
}

/* Returns where the steps of @l end at the latest. */
static struct ptc_spot last_stop(const struct ptc_queue_decoder *l)
{
	return l->part.on ? ptc_queue_part_stop(&l->part) : NOWHERE;
}

/* Returns where the steps of @l end, in front of its first work unit. */
static struct ptc_spot stop_of(const struct ptc_queue_decoder *l)
{
	const struct ptc_spot last = last_stop(l);

	return l->nplanned && !ptc_spot_is_before(last, l->planned[0]->conf.start) ?
		       l->planned[0]->conf.start :
		       last;
}

/* Threads make segments ahead of their turn. */
static int step_with_segments(struct ptc_scheduler *p, struct ptc_queue_decoder *l,
			      struct ptc_err *err)
{
	struct ptc_work_unit *s = slice_here(p, l);

	if (s && s != l->serving) {
		if (!ptc_pool_take(p->jobs, s))
			return PTC_QUEUE_DECODER_PASS;
		ptc_pool_lend_room(p->jobs, ptc_replay_out(l->replay), &l->writer);
		ptc_replay_set_made(l->replay, &s->made);
		l->serving = s;
	}
	ptc_replay_set_stop(l->replay, s ? s->stop : stop_of(l));
	return ptc_replay_steps(l->replay, PTC_QUEUE_DECODER_BATCH, err);
}

int ptc_queue_decoder_steps(struct ptc_queue_decoder *l, struct ptc_scheduler *p,
			    struct ptc_err *err)
{
	if (p)
		return step_with_segments(p, l, err);
	if (l->part.on)
		ptc_replay_set_stop(l->replay, last_stop(l));
	return ptc_replay_steps(l->replay, PTC_QUEUE_DECODER_BATCH, err);
}
