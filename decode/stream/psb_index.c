/* SPDX-License-Identifier: MIT */
#include "decode/stream/psb_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "base/grow.h"
#include "base/sorted.h"

/* Further ahead than this, the bytes between have not been searched. */
enum { NEAR = 1 << 20 };

void ptc_psbs_release(struct ptc_psbs *p)
{
	free(p->v);
	*p = (struct ptc_psbs){ .n = 0 };
}

/* Returns the index of the first position at or behind @from; n: none. */
static size_t lower(const struct ptc_psbs *p, struct ptc_spot from)
{
	return PTC_PARTITION_POINT(i, p->head, p->n, ptc_spot_is_before(p->v[i], from));
}

size_t ptc_psbs_find(const struct ptc_psbs *p, struct ptc_spot from)
{
	const size_t i = lower(p, from);

	if (i == p->n || p->v[i].span != from.span)
		return SIZE_MAX;
	if (p->v[i].off == from.off || (i > p->head && p->v[i - 1].span == from.span))
		return p->v[i].off;
	return SIZE_MAX;
}

/* Adds a position. Out of memory: drops all positions, because a missing one would be wrong. */
static void append_psb(struct ptc_psbs *p, struct ptc_spot psb)
{
	if (ptc_grow(&p->v, &p->cap, p->n + 1, sizeof(*p->v)))
		p->v[p->n++] = psb;
	else
		p->n = p->head = 0;
}

size_t ptc_psbs_look(struct ptc_psbs *p, const struct ptc_stream *s, struct ptc_spot from)
{
	const struct ptc_span *sp = &s->spans[from.span];
	struct ptc_spot at = from;
	size_t known;

	if (p->n > p->head && !ptc_spot_is_before(p->v[p->n - 1], from)) {
		known = ptc_psbs_find(p, from);
		return known < SIZE_MAX ? known : ptc_span_next_psb(sp, from.off);
	}
	if (p->n > p->head && p->v[p->n - 1].span == from.span) {
		at.off = p->v[p->n - 1].off + PTC_PSB_LEN;
		if (from.off - p->v[p->n - 1].off > NEAR) {
			at = from;
			p->n = p->head = 0;
		}
	}
	for (;; at.off += PTC_PSB_LEN) {
		at.off = ptc_span_next_psb(sp, at.off);
		append_psb(p, at);
		if (at.off >= from.off)
			return at.off;
	}
}

void ptc_psbs_forget(struct ptc_psbs *p, struct ptc_spot spot)
{
	/* Keeps one position in front of @spot, as a proof that no PSB is between the two. */
	while (p->head + 1 < p->n && ptc_spot_is_before(p->v[p->head + 1], spot))
		p->head++;
	if (p->head <= p->n / 2)
		return;
	memmove(p->v, p->v + p->head, (p->n - p->head) * sizeof(*p->v));
	p->n -= p->head;
	p->head = 0;
}

void ptc_psbs_copy(const struct ptc_psbs *p, struct ptc_spot from, struct ptc_spot to,
		   struct ptc_psbs *ret)
{
	const size_t begin = lower(p, from);
	size_t end = lower(p, to);

	end += end < p->n;
	if (begin == end || !ptc_grow(&ret->v, &ret->cap, end - begin, sizeof(*ret->v)))
		return;
	memcpy(ret->v, p->v + begin, (end - begin) * sizeof(*ret->v));
	ret->n = end - begin;
}
