/* SPDX-License-Identifier: MIT */
#include "decode/engine/engine.h"

#include <stdlib.h>

#include "decode/engine/other_packets.h"
#include "decode/engine/psb_lookahead.h"
#include "decode/engine/tnt_loop.h"

void ptc_fast_init(struct ptc_fast *f, struct ptc_fast_hand *hand, struct ptc_fast_chains *chains)
{
	*f = (struct ptc_fast){ .chains = chains };
	ptc_fast_flow_init(&f->flow, hand);
}

void ptc_fast_use(struct ptc_fast *f, struct ptc_fast_hand *hand, struct ptc_fast_chains *chains)
{
	ptc_fast_flow_use(&f->flow, hand);
	f->chains = chains;
}

bool ptc_fast_change(struct ptc_fast *f, bool (*get)(void *ctx, struct ptc_fast *f), void *ctx)
{
	const struct ptc_fast_stand stand = ptc_fast_flow_leave(&f->flow);

	return get(ctx, f) && ptc_fast_flow_return(&f->flow, &stand);
}

void ptc_fast_begin(struct ptc_fast *f, const uint8_t *bytes, size_t len, size_t pos)
{
	struct ptc_fast_flow flow = f->flow;
	struct ptc_fast_time time = f->time;

	ptc_fast_flow_restart(&flow);
	ptc_fast_time_begin(&time);
	*f = (struct ptc_fast){ .flow = flow,
				.chains = f->chains,
				.plain = f->plain,
				.counts = f->counts,
				.strict = f->strict,
				.cut = f->cut,
				.bytes = bytes,
				.len = len,
				.pos = pos,
				.time = time,
				.marks = f->marks,
				.marks_cap = f->marks_cap,
				.ask = f->ask,
				.asked = f->asked };
	if (f->chains)
		ptc_fast_chains_prepare(f->chains, f->flow.code);
}

void ptc_fast_release(struct ptc_fast *f)
{
	ptc_fast_flow_release(&f->flow);
	free(f->marks);
	f->marks = NULL;
}

static enum ptc_fast_status end(struct ptc_fast *f)
{
	if (f->nbits || f->marker || f->mode_said)
		return ptc_fast_decline(f, "the trace ends too early");
	ptc_fast_flow_end(&f->flow);
	return PTC_FAST_AT_END;
}

static bool forget_blocks_and_chains(void *ctx, struct ptc_fast *f)
{
	(void)ctx;
	ptc_fast_chains_forget(f->chains);
	ptc_fast_code_forget(f->flow.code);
	return true;
}

/*
 * At a PSB little of the code is needed. So forget all that is known of it, if that has become too
 * much. If other threads share it, their owner decides.
 */
static enum ptc_fast_status at_psb(struct ptc_fast *f)
{
	switch (ptc_fast_upcoming(f)) {
	case PTC_FAST_UPCOMING_GOOD:
		break;
	case PTC_FAST_UPCOMING_BAD:
		return ptc_fast_decline(f, "no packet behind a PSB+");
	default:
		return ptc_fast_decline(f, PTC_FAST_TOO_SHORT);
	}
	if (f->flow.code->shared || (!ptc_fast_code_is_full(f->flow.code) &&
				     !ptc_fast_chains_is_full(f->chains, f->flow.code)))
		return PTC_FAST_AT_PSB;
	return ptc_fast_change(f, forget_blocks_and_chains, NULL) ?
		       PTC_FAST_AT_PSB :
		       ptc_fast_decline(f, "out of memory");
}

enum ptc_fast_status ptc_fast_run(struct ptc_fast *f)
{
	enum ptc_fast_status r = PTC_FAST_GO_ON;

	while (f->pos < f->len && r == PTC_FAST_GO_ON) {
		while (f->pos < f->len && !f->bytes[f->pos]) /* PADs are many */
			f->pos++;
		if (!f->plain && !f->mode_said && !f->marker && !f->due)
			r = ptc_fast_hurry(f);
		if (r == PTC_FAST_GO_ON && f->pos < f->len)
			r = ptc_fast_packet(f);
	}
	if (r == PTC_FAST_AT_PSB) {
		ptc_fast_flow_forget_calls(&f->flow);
		return at_psb(f);
	}
	return r == PTC_FAST_GO_ON ? end(f) : r;
}
