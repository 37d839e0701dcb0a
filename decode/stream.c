/* SPDX-License-Identifier: MIT */
#include "decode/stream.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/overlap.h"
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

/*
 * Where piece @c of @q goes on in @sp: its bytes from *ret_skip on are to be
 * put at *ret_at of the span. False: it does not.
 */
static bool place(const struct ptc_span *sp, const struct ptc_queue *q, const struct ptc_chunk *c,
		  const uint8_t *bytes, bool by_content, size_t *ret_at, size_t *ret_skip)
{
	const size_t len = (size_t)c->size;

	if (q->samples)
		return ptc_overlap(sp->bytes, sp->len, bytes, len, ret_at, ret_skip);
	*ret_skip = 0;
	if (continues(sp, c, bytes, ret_at) && (!by_content || *ret_at < sp->len))
		return true;
	/* Behind the end by its offset there is a hole, if offsets are to be believed. */
	if ((by_content || c->aux_off <= sp->base + sp->len) &&
	    ptc_overlap(sp->bytes, sp->len, bytes, len, ret_at, ret_skip))
		return true;
	*ret_skip = 0;
	return continues(sp, c, bytes, ret_at);
}

/* Put @n bytes at @at of the span, in place of what is there. */
static int extend(struct ptc_stream *s, struct ptc_span *sp, size_t at, const uint8_t *bytes,
		  size_t n, size_t *cap, struct ptc_err *err)
{
	if (at + n <= sp->len)
		return 0;
	if (!own(sp, at + n, cap))
		return ptc_fail_mem(err);
	memcpy(sp->owned + at, bytes, n);
	s->bytes += at + n - sp->len;
	sp->len = at + n;
	return 0;
}

int ptc_stream_join(struct ptc_stream *s, const struct ptc_file *f, const struct ptc_queue *q,
		    bool by_content, struct ptc_err *err)
{
	struct ptc_span *sp = NULL;
	size_t i, at, skip, cap = 0;

	for (i = 0; i < q->nchunks; i++) {
		const struct ptc_chunk *c = &q->chunks[i];
		const struct ptc_cur bytes = ptc_chunk_bytes(f, c);
		const size_t len = ptc_cur_left(&bytes);
		uint64_t end;

		if (!len)
			continue;
		if (!sp || !place(sp, q, c, bytes.pos, by_content, &at, &skip)) {
			end = sp ? sp->base + sp->len : c->aux_off;
			sp = new_span(s, bytes.pos, len, c->aux_off);
			if (!sp)
				return ptc_fail_mem(err);
			sp->lost = c->aux_off > end && !q->samples ? c->aux_off - end : 0;
			cap = 0;
		} else if (extend(s, sp, at, bytes.pos + skip, len - skip, &cap, err)) {
			return err->code;
		}
		sp->reference = c->reference;
	}
	return 0;
}

static bool is_padding(const uint8_t *bytes, size_t len)
{
	return len <= PTC_PADDING_MAX && !ptc_without_padding(bytes, len);
}

/* Split @sp, the last of @s, @at bytes behind its start. */
static bool split(struct ptc_stream *s, size_t at)
{
	const struct ptc_span whole = s->spans[s->n - 1];
	struct ptc_span *first, *rest;

	if (!is_padding(whole.bytes + at, whole.len - at)) {
		rest = new_span(s, whole.bytes + at, whole.len - at, whole.base + at);
		if (!rest)
			return false;
		rest->reference = whole.reference;
		first = rest - 1; /* keeps what they own */
	} else {
		first = &s->spans[s->n - 1];
	}
	s->bytes -= whole.len - at;
	first->len = at;
	first->truncated = true;
	return true;
}

/* The first cut behind @off. */
static size_t first_cut(const struct ptc_cut *cuts, size_t n, uint64_t off)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (cuts[mid].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Move @sp to the end of @s, in as many parts as there are cuts in it. */
static bool move_span(struct ptc_stream *s, const struct ptc_span *sp, struct ptc_cut *cuts,
		      size_t n)
{
	size_t k = first_cut(cuts, n, sp->base);

	if (!ptc_grow(&s->spans, &s->cap, s->n + 1, sizeof(*s->spans)))
		return false;
	s->spans[s->n++] = *sp;
	s->bytes += sp->len;
	for (; k < n && cuts[k].off - sp->base <= sp->len; k++) {
		const struct ptc_span *last = &s->spans[s->n - 1];

		if (cuts[k].done || cuts[k].off - last->base > last->len)
			continue;
		if (cuts[k].off != last->base && /* two at one place */
		    !split(s, (size_t)(cuts[k].off - last->base)))
			return false;
		cuts[k].done = true;
	}
	return true;
}

int ptc_stream_cut(struct ptc_stream *s, struct ptc_cut *cuts, size_t n, struct ptc_err *err)
{
	struct ptc_stream out = { .n = 0 };
	uint64_t end, padding = 0;
	size_t i;

	for (i = 0; i < n; i++)
		cuts[i].done = false;
	if (!n)
		return 0;
	for (i = 0; i < s->n; i++) {
		/* Padding in front of a hole was taken for bytes of the stream. */
		if (i && s->spans[i].lost)
			s->spans[i].lost += padding;
		end = s->spans[i].base + s->spans[i].len;
		if (!move_span(&out, &s->spans[i], cuts, n)) {
			free(out.spans); /* what they own is still in @s */
			return ptc_fail_mem(err);
		}
		padding = end - (out.spans[out.n - 1].base + out.spans[out.n - 1].len);
	}
	free(s->spans);
	*s = out;
	return 0;
}
