/* SPDX-License-Identifier: MIT */
/*
 * How late it can be at a place of the trace. Time does not go back, so it is not later than at the
 * next PSB. Without that, one wrong bit of a TSC brings everything that side records tell of the
 * future over the rest of the trace.
 */
#ifndef PTC_DECODE_AHEAD_H
#define PTC_DECODE_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "decode/clock.h"
#include "decode/psbs.h"
#include "decode/range.h"
#include "decode/stream.h"

/* As many are looked at, if the first ones leave a doubt; FEW in any case. */
enum { PTC_AHEAD_PSBS = 3, PTC_AHEAD_FEW = 2 };

/* A PSB with a time. Behind the last span: there is none. */
struct ptc_ahead_psb {
	struct ptc_spot spot;
	size_t from; /* there is no PSB, of those without a time neither, from here on up to it */
	uint64_t ns;
};

struct ptc_ahead {
	const struct ptc_stream *stream; /* lent */
	struct ptc_tsc_clock clock;
	uint64_t last_ns;			  /* of the PSB that was passed last; 0: none */
	struct ptc_ahead_psb psb[PTC_AHEAD_PSBS]; /* the next ones, */
	size_t n;				  /* so many of them */
	uint64_t bound;				  /* in front of psb[0] */
	const struct ptc_psbs *known;		  /* lent; PSBs that were found; NULL: none */
};

/* @known may be NULL. */
void ptc_ahead_init(struct ptc_ahead *a, const struct ptc_stream *s,
		    const struct ptc_tsc_clock *clock, const struct ptc_psbs *known);

/* Find out what the bound is from @at on. */
void ptc_ahead_move(struct ptc_ahead *a, struct ptc_spot at);

/* The offset of the first PSB at or behind @from in its span, if that is known; else SIZE_MAX. */
size_t ptc_ahead_next_psb(const struct ptc_ahead *a, struct ptc_spot from);

/* Is the bound at @at to be found out anew? */
static inline bool ptc_ahead_is_due(const struct ptc_ahead *a, struct ptc_spot at)
{
	const struct ptc_spot psb = a->psb[0].spot;

	return at.span >= psb.span && (at.span > psb.span || at.off >= psb.off);
}

/* The first offset of span @span, of those in front of @off, at which it is; else @off. */
static inline size_t ptc_ahead_limit(const struct ptc_ahead *a, size_t span, size_t off)
{
	const struct ptc_spot psb = a->psb[0].spot;

	if (psb.span != span)
		return psb.span < span ? 0 : off;
	return psb.off < off ? psb.off : off;
}

/*
 * The latest time, in ns, of what is at @at; UINT64_MAX: not known. @at must not decrease, but that
 * it may go back in the part of the trace that was asked for last.
 */
static inline uint64_t ptc_ahead_bound(struct ptc_ahead *a, struct ptc_spot at)
{
	if (ptc_ahead_is_due(a, at))
		ptc_ahead_move(a, at);
	return a->bound;
}

#endif
