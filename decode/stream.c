/* SPDX-License-Identifier: MIT */
#include "decode/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "decode/grow.h"

void ptc_stream_release(struct ptc_stream *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->spans[i].owned);
	free(s->spans);
	s->spans = NULL;
	s->n = s->cap = 0;
}

static struct ptc_span *new_span(struct ptc_stream *s, const uint8_t *bytes, size_t len,
				 uint64_t base)
{
	struct ptc_span *sp;

	if (!ptc_grow(&s->spans, &s->cap, s->n + 1, sizeof(*s->spans)))
		return NULL;
	sp = &s->spans[s->n++];
	*sp = (struct ptc_span){ .bytes = bytes, .len = len, .base = base };
	s->bytes += len;
	return sp;
}

int ptc_stream_single(struct ptc_stream *s, const uint8_t *bytes, size_t len, struct ptc_err *err)
{
	return new_span(s, bytes, len, 0) ? 0 : ptc_fail_mem(err);
}

/*
 * Where piece @c begins in @sp, or false when it does not continue it.
 * Pieces overlap by up to 7 bytes where the writer padded the one before to a
 * multiple of 8, and by more in snapshots, which may hold bytes of an earlier
 * one again: then they must be the same bytes, else the offsets mean nothing.
 */
static bool continues(const struct ptc_span *sp, const struct ptc_chunk *c, const uint8_t *bytes,
		      size_t *ret_at)
{
	const uint64_t end = sp->base + sp->len;
	size_t at, both, i;

	if (c->aux_off < sp->base || c->aux_off > end)
		return false;
	at = (size_t)(c->aux_off - sp->base);
	*ret_at = at;
	if (sp->len - at < 8) {
		for (i = at; i < sp->len && !sp->bytes[i]; i++)
			;
		if (i == sp->len)
			return true;
	}
	both = sp->len - at < c->size ? sp->len - at : (size_t)c->size;
	return !memcmp(sp->bytes + at, bytes, both);
}

/* Room for @total bytes, more than it has, in a buffer of the span's own. */
static bool own(struct ptc_span *sp, size_t total, size_t *cap)
{
	size_t want = *cap * 2;
	uint8_t *p;

	if (sp->owned && total <= *cap)
		return true;
	if (want < total)
		want = total;
	p = want ? realloc(sp->owned, want) : NULL;
	if (!p)
		return false;
	if (!sp->owned)
		memcpy(p, sp->bytes, sp->len);
	sp->owned = p;
	sp->bytes = p;
	*cap = want;
	return true;
}

int ptc_stream_join(struct ptc_stream *s, const struct ptc_file *f, const struct ptc_queue *q,
		    struct ptc_err *err)
{
	struct ptc_span *sp = NULL;
	size_t i, at, cap = 0;

	for (i = 0; i < q->nchunks; i++) {
		const struct ptc_chunk *c = &q->chunks[i];
		const struct ptc_cur bytes = ptc_chunk_bytes(f, c);
		const size_t len = ptc_cur_left(&bytes);
		uint64_t end;

		if (!len)
			continue;
		if (!sp || !continues(sp, c, bytes.pos, &at)) {
			end = sp ? sp->base + sp->len : c->aux_off;
			sp = new_span(s, bytes.pos, len, c->aux_off);
			if (!sp)
				return ptc_fail_mem(err);
			sp->lost = c->aux_off > end ? c->aux_off - end : 0;
			cap = 0;
		} else if (at + len > sp->len) {
			if (!own(sp, at + len, &cap))
				return ptc_fail_mem(err);
			memcpy(sp->owned + at, bytes.pos, len);
			s->bytes += at + len - sp->len;
			sp->len = at + len;
		}
		sp->reference = c->reference;
	}
	return 0;
}
