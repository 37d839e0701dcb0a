/* SPDX-License-Identifier: MIT */
#include "decode/session/queue_decoder.h"

#include "base/err.h"
#include "decode/segment/work_unit.h"
#include "decode/segment/worker_pool.h"
#include "decode/session/decoder.h"

static const struct ptc_spot NOWHERE = { SIZE_MAX, SIZE_MAX };

struct ptc_replay_conf ptc_lane_conf(struct ptc_decode *d, struct ptc_lane *l)
{
	return (struct ptc_replay_conf){
		.opts = &d->opts,
		.resync = d->resync,
		.ipt = &d->ipt,
		.engine = d->engine,
		.clock = d->clock,
		.contexts = &l->known,
		.stream = &l->stream,
		.psbs = &l->psbs,
		.start = l->start,
		.marks = l->marks,
		.nmarks = l->nmarks,
		.snapshots = l->snapshots,
		.queue = l->idx,
		.stats = &d->stats,
		.notes = &d->notes,
		.sums = &l->sums,
		.runs = d->runs,
		.from_ns = d->pick.from,
		.to_ns = d->pick.to == UINT64_MAX ? 0 : d->pick.to,
	};
}

/*
 * Returns the work unit that the replay is in, whose segments it may take, or NULL. Drops passed
 * work units.
 */
static struct ptc_slice *slice_here(struct ptc_decode *d, struct ptc_lane *l)
{
	const struct ptc_spot at = ptc_replay_spot(l->replay);

	while (l->nplanned && !ptc_spot_is_before(at, l->planned[0]->stop)) {
		ptc_jobs_await(d->plan->jobs, l->planned[0]);
		ptc_replay_set_made(l->replay, NULL);
		l->serving = NULL;
		ptc_plan_drop(d->plan, l);
	}
	return l->nplanned && !ptc_spot_is_before(at, l->planned[0]->conf.start) ? l->planned[0] :
										   NULL;
}

/* Threads make segments ahead of their turn. */
static int step_with_segments(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	struct ptc_slice *s = slice_here(d, l);

	if (s && s != l->serving) {
		if (!ptc_jobs_take(d->plan->jobs, s))
			return PTC_LANE_PASS;
		ptc_jobs_lend_room(d->plan->jobs, ptc_replay_out(l->replay), &l->writer);
		ptc_replay_set_made(l->replay, &s->made);
		l->serving = s;
	}
	ptc_replay_set_stop(l->replay, s	   ? s->stop :
				       l->nplanned ? l->planned[0]->conf.start :
						     NOWHERE);
	return ptc_replay_steps(l->replay, PTC_LANE_BATCH, err);
}

int ptc_lane_steps(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	return d->plan ? step_with_segments(d, l, err) :
			 ptc_replay_steps(l->replay, PTC_LANE_BATCH, err);
}
