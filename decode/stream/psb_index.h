/* SPDX-License-Identifier: MIT */
/*
 * Positions of PSBs that were already found, so that later readers of the stream need not search
 * every byte again.
 */
#ifndef PTC_DECODE_STREAM_PSB_INDEX_H
#define PTC_DECODE_STREAM_PSB_INDEX_H

#include <stddef.h>

#include "decode/stream/seek.h"
#include "decode/stream/stream.h"

struct ptc_psbs {
	/*
	 * Owned; [head, n), ascending: each is a PSB, or the end of a span. No other PSB is between
	 * two neighbours of one span.
	 */
	struct ptc_spot *v;
	size_t head, n, cap;
};

void ptc_psbs_release(struct ptc_psbs *p);

/* As ptc_span_next_psb(), for the span of @s at @from. Remembers the PSBs found on the way. */
size_t ptc_psbs_look(struct ptc_psbs *p, const struct ptc_stream *s, struct ptc_spot from);
/* Returns the next PSB if it is known, else SIZE_MAX. */
size_t ptc_psbs_find(const struct ptc_psbs *p, struct ptc_spot from);

/* Drops positions in front of @spot: they will not be asked for again. */
void ptc_psbs_forget(struct ptc_psbs *p, struct ptc_spot spot);
/*
 * Copies known positions from @from to @to into @ret, which is empty. Out of memory: copies
 * nothing.
 */
void ptc_psbs_copy(const struct ptc_psbs *p, struct ptc_spot from, struct ptc_spot to,
		   struct ptc_psbs *ret);

#endif
