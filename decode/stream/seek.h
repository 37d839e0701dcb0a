/* SPDX-License-Identifier: MIT */
/*
 * Finds the PSB of a queue's trace at which decoding begins, so that not all of the trace must be
 * decoded. It is found by its time, by the number of branches behind it, or by its distance.
 * Nothing is decoded to find it.
 */
#ifndef PTC_DECODE_STREAM_SEEK_H
#define PTC_DECODE_STREAM_SEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/stream/stream.h"
#include "decode/stream/tsc_clock.h"

struct ptc_err;

/* A PSB at @off of span @span. Zeros: the beginning of the trace, even without a PSB there. */
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

/* Returns the number of bytes from @p to the end of @s. */
uint64_t ptc_range_left(const struct ptc_stream *s, struct ptc_spot p);

/* Gets the time (ns) of the PSB+ at @psb of @sp. Returns false if it has none. */
bool ptc_range_time_at(const struct ptc_span *sp, const struct ptc_tsc_clock *clock, size_t psb,
		       uint64_t *ret_ns);

/*
 * Returns the first PSB of @sp at or behind @from that has a time, and gets that time in ns.
 * Returns the span's length if there is none; then *@ret_ns is not set.
 */
size_t ptc_range_next_timed(const struct ptc_span *sp, const struct ptc_tsc_clock *clock,
			    size_t from, uint64_t *ret_ns);

/* Returns the last PSB with a time before @time_ns, or the beginning if there is none. */
struct ptc_spot ptc_range_at_time(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
				  uint64_t time_ns);

/*
 * Gets the last PSB with at least @n branches behind it, moved back by one more PSB. The branches
 * are estimated from packets: direct jumps and calls have none. Gets the beginning if there is no
 * such PSB. Returns PTC_E_NO_MEMORY on failure.
 */
int ptc_range_at_last(const struct ptc_stream *s, uint64_t n, struct ptc_spot *ret,
		      struct ptc_err *err);

/*
 * Returns the last PSB in front of @p with packets of @n branches between the two, or the
 * beginning. Looks at 1 MiB at most.
 */
struct ptc_spot ptc_range_with_branches(const struct ptc_stream *s, struct ptc_spot p, uint64_t n);

/* Returns the last PSB at least @bytes in front of @p, or the beginning. */
struct ptc_spot ptc_range_back(const struct ptc_stream *s, struct ptc_spot p, uint64_t bytes);

/*
 * Gets the times of the first TSC packet behind a PSB and of the last TSC packet. Returns false if
 * there is none, or @clock is not valid.
 */
bool ptc_range_times(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
		     uint64_t *ret_first_ns, uint64_t *ret_last_ns);

#endif
