/* SPDX-License-Identifier: MIT */
#include "decode/stream/time_bound.h"

#include "arch/pt_packet.h"
#include "ptcap/decode.h"

void ptc_time_bound_init(struct ptc_time_bound *a, const struct ptc_stream *s,
			 const struct ptc_tsc_clock *clock, const struct ptc_psbs *known)
{
	*a = (struct ptc_time_bound){
		.stream = s, .clock = *clock, .bound = UINT64_MAX, .known = known
	};
}

/* Returns the offset of the first PSB at or behind @at, in its span. */
static size_t next_psb(const struct ptc_time_bound *a, struct ptc_spot at)
{
	const size_t psb = a->known ? ptc_psbs_find(a->known, at) : SIZE_MAX;

	return psb < SIZE_MAX ? psb : ptc_span_next_psb(&a->stream->spans[at.span], at.off);
}

/* Returns the first PSB with a time at or behind @at. */
static struct ptc_time_bound_psb find_timed_psb(struct ptc_time_bound *a, struct ptc_spot at)
{
	struct ptc_time_bound_psb p = { { a->stream->n, 0 }, 0, UINT64_MAX };

	for (; at.span < a->stream->n; at = (struct ptc_spot){ at.span + 1, 0 }) {
		const struct ptc_span *sp = &a->stream->spans[at.span];
		const size_t psb = next_psb(a, at);
		const size_t off = ptc_range_next_timed(sp, &a->clock, psb, &p.ns);

		if (off < sp->len) {
			p.spot = (struct ptc_spot){ at.span, off };
			p.from = off == psb ? at.off : off;
			return p;
		}
	}
	/*
	 * The time at which the trace was copied is no bound. But it shows which of two PSBs is
	 * wrong.
	 */
	if (a->stream->n && a->stream->spans[a->stream->n - 1].reference)
		p.ns = ptc_tsc_clock_ns(&a->clock, a->stream->spans[a->stream->n - 1].reference, 0);
	return p;
}

static struct ptc_time_bound_psb find_behind(struct ptc_time_bound *a, struct ptc_spot at)
{
	return find_timed_psb(a, (struct ptc_spot){ at.span, at.off + PTC_PSB_LEN });
}

size_t ptc_time_bound_next_psb(const struct ptc_time_bound *a, struct ptc_spot from)
{
	const struct ptc_time_bound_psb *p = a->psb;

	for (; p < a->psb + a->n; p++)
		if (p->spot.span == from.span && p->from <= from.off && from.off <= p->spot.off)
			return p->spot.off;
	return SIZE_MAX;
}

static bool is_passed(const struct ptc_time_bound *a, struct ptc_spot at)
{
	const struct ptc_spot psb = a->psb[0].spot;

	return psb.span < a->stream->n &&
	       (psb.span < at.span || (psb.span == at.span && psb.off <= at.off));
}

static void append_next_psb(struct ptc_time_bound *a)
{
	a->psb[a->n] = find_behind(a, a->psb[a->n - 1].spot);
	a->n++;
}

static uint64_t third_time(struct ptc_time_bound *a)
{
	if (a->n == PTC_TIME_BOUND_FEW)
		append_next_psb(a);
	return a->psb[PTC_TIME_BOUND_FEW].ns;
}

/* Returns the bound. The time of one PSB may be wrong. */
static uint64_t bound_of(struct ptc_time_bound *a)
{
	const struct ptc_time_bound_psb *const psb = a->psb;
	const size_t n = a->stream->n;

	if (psb[0].spot.span == n)
		return UINT64_MAX;
	/* Too early: the PSB behind it is not earlier than the last passed PSB. */
	if (psb[0].ns < a->last_ns && psb[1].ns >= a->last_ns)
		return psb[1].spot.span < n ? psb[1].ns : UINT64_MAX;
	/* Too late: the next two PSBs are earlier. */
	if (psb[1].spot.span < n && psb[0].ns > psb[1].ns && psb[0].ns > third_time(a))
		return psb[1].ns;
	return psb[0].ns;
}

void ptc_time_bound_move(struct ptc_time_bound *a, struct ptc_spot at)
{
	size_t i;

	if (!a->clock.valid)
		return;
	if (!a->n) {
		a->psb[a->n++] = find_timed_psb(a, at);
		append_next_psb(a);
	}
	while (is_passed(a, at)) {
		a->last_ns = a->psb[0].ns;
		a->n--;
		for (i = 0; i < a->n; i++)
			a->psb[i] = a->psb[i + 1];
		if (a->n < PTC_TIME_BOUND_FEW)
			append_next_psb(a);
	}
	a->bound = bound_of(a);
}
