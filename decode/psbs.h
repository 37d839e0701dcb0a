/* SPDX-License-Identifier: MIT */
/*
 * PSBs that somebody who goes over a stream from front to back has found, for those who come there
 * later: to look for one is to look at every byte.
 */
#ifndef PTC_DECODE_PSBS_H
#define PTC_DECODE_PSBS_H

#include <stddef.h>

#include "decode/range.h"
#include "decode/stream.h"

struct ptc_psbs {
	/*
	 * Owned; [head, n), ascending: each is a PSB, or the end of a span. There is none between
	 * two of the same span.
	 */
	struct ptc_spot *v;
	size_t head, n, cap;
};

void ptc_psbs_release(struct ptc_psbs *p);

/* As ptc_span_next_psb, for the span of @s that @from is in; what is found on the way is kept. */
size_t ptc_psbs_look(struct ptc_psbs *p, const struct ptc_stream *s, struct ptc_spot from);
/* The same, if it is known; else SIZE_MAX. */
size_t ptc_psbs_find(const struct ptc_psbs *p, struct ptc_spot from);

/* Nobody will ask for what is in front of @spot. */
void ptc_psbs_forget(struct ptc_psbs *p, struct ptc_spot spot);
/* What is known from @from to @to goes to @ret, which is empty, as far as there is memory. */
void ptc_psbs_copy(const struct ptc_psbs *p, struct ptc_spot from, struct ptc_spot to,
		   struct ptc_psbs *ret);

#endif
