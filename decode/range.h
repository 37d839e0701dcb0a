/* SPDX-License-Identifier: MIT */
/*
 * Where in a queue's trace to begin, so that not all of it must be decoded: at a PSB found by its
 * time, by what is behind it, or by its distance. Nothing is decoded to find it.
 */
#ifndef PTC_DECODE_RANGE_H
#define PTC_DECODE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/clock.h"
#include "decode/stream.h"

struct ptc_err;

/* A PSB: @off of span @span. Zeros: the beginning, whatever is there. */
struct ptc_spot {
	size_t span, off;
};

static inline bool ptc_spot_is_begin(struct ptc_spot p)
{
	return !p.span && !p.off;
}

static inline bool ptc_spot_is_before(struct ptc_spot a, struct ptc_spot b)
{
	return a.span < b.span || (a.span == b.span && a.off < b.off);
}

/* Bytes from @p to the end of @s. */
uint64_t ptc_range_left(const struct ptc_stream *s, struct ptc_spot p);

/* Does the PSB+ at @psb of @sp tell a time? That, in ns. */
bool ptc_range_time_at(const struct ptc_span *sp, const struct ptc_tsc_clock *clock, size_t psb,
		       uint64_t *ret_ns);

/*
 * The first PSB of @sp at or behind @from that tells a time, and that in ns; the span's length, and
 * nothing set, if there is none.
 */
size_t ptc_range_next_timed(const struct ptc_span *sp, const struct ptc_tsc_clock *clock,
			    size_t from, uint64_t *ret_ns);

/* The last PSB with a time in front of @time_ns; the beginning if there is none. */
struct ptc_spot ptc_range_at_time(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
				  uint64_t time_ns);

/*
 * The last PSB that at least @n transfers are behind, going by the packets (of direct jumps and
 * calls there are none), and one segment more; the beginning if there is none. PTC_E_NO_MEMORY.
 */
int ptc_range_at_last(const struct ptc_stream *s, uint64_t n, struct ptc_spot *ret,
		      struct ptc_err *err);

/* The last PSB at least @bytes in front of @p, or the beginning. */
struct ptc_spot ptc_range_back(const struct ptc_stream *s, struct ptc_spot p, uint64_t bytes);

/*
 * Time of the first TSC packet behind a PSB and of the last TSC packet. False: there is none, or
 * @clock is not valid.
 */
bool ptc_range_times(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
		     uint64_t *ret_first_ns, uint64_t *ret_last_ns);

#endif
