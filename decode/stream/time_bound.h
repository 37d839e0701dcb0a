/* SPDX-License-Identifier: MIT */
/*
 * Upper bound for the time at a place in the trace. Time does not go back, so the time is at most
 * that of the next PSB. Without the bound, one wrong bit in a TSC would apply all later sideband
 * records to the rest of the trace.
 */
#ifndef PTC_DECODE_STREAM_TIME_BOUND_H
#define PTC_DECODE_STREAM_TIME_BOUND_H

#include <stddef.h>
#include <stdint.h>

#include "decode/stream/psb_index.h"
#include "decode/stream/seek.h"
#include "decode/stream/stream.h"
#include "decode/stream/tsc_clock.h"

/* PSBs to look at: always FEW; PSBS if the times of the first ones contradict each other. */
enum { PTC_TIME_BOUND_PSBS = 3, PTC_TIME_BOUND_FEW = 2 };

/* A PSB with a time. If no such PSB follows, spot.span is the number of spans. */
struct ptc_time_bound_psb {
	struct ptc_spot spot;
	size_t from; /* no PSB, with or without a time, begins in [from, spot.off) */
	uint64_t ns;
};

struct ptc_time_bound {
	const struct ptc_stream *stream; /* lent */
	struct ptc_tsc_clock clock;
	uint64_t last_ns; /* time of the last PSB passed; 0: none */
	struct ptc_time_bound_psb psb[PTC_TIME_BOUND_PSBS]; /* the next PSBs */
	size_t n;					    /* used entries of psb */
	uint64_t bound;					    /* valid in front of psb[0] */
	const struct ptc_psbs *known; /* lent; PSBs found already; NULL: none */
};

/* @known may be NULL. */
void ptc_time_bound_init(struct ptc_time_bound *a, const struct ptc_stream *s,
			 const struct ptc_tsc_clock *clock, const struct ptc_psbs *known);

/* Compute the bound that holds from @at on. */
void ptc_time_bound_move(struct ptc_time_bound *a, struct ptc_spot at);

/* Returns the offset of the first PSB at or after @from in its span, or SIZE_MAX if unknown. */
size_t ptc_time_bound_next_psb(const struct ptc_time_bound *a, struct ptc_spot from);

/* Must the bound be computed again at @at? */
static inline bool ptc_time_bound_is_due(const struct ptc_time_bound *a, struct ptc_spot at)
{
	const struct ptc_spot psb = a->psb[0].spot;

	return at.span >= psb.span && (at.span > psb.span || at.off >= psb.off);
}

/*
 * Returns the first offset of @span below @off where the bound must be computed again, else @off.
 */
static inline size_t ptc_time_bound_limit(const struct ptc_time_bound *a, size_t span, size_t off)
{
	const struct ptc_spot psb = a->psb[0].spot;

	if (psb.span != span)
		return psb.span < span ? 0 : off;
	return psb.off < off ? psb.off : off;
}

/*
 * Returns the latest possible time at @at, in ns. UINT64_MAX: unknown. @at must not decrease. It
 * may go back only within the interval between two PSBs that the last call asked for.
 */
static inline uint64_t ptc_time_bound_get(struct ptc_time_bound *a, struct ptc_spot at)
{
	if (ptc_time_bound_is_due(a, at))
		ptc_time_bound_move(a, at);
	return a->bound;
}

#endif
