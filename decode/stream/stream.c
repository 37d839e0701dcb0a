/* SPDX-License-Identifier: MIT */
#include "decode/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "auxtrace/reader/aux_overlap.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "decode/stream/psb.h"

void ptc_stream_release(struct ptc_stream *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->spans[i].parts);
	free(s->spans);
	s->spans = NULL;
	s->n = s->cap = 0;
	s->bytes = 0;
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

/* Returns the part that holds byte @at, which must be inside. Only for a span in parts. */
static size_t part_of(const struct ptc_span *sp, size_t at)
{
	return PTC_PARTITION_POINT(i, 1, sp->nparts, sp->parts[i].at <= at) - 1;
}

const uint8_t *ptc_span_run(const struct ptc_span *sp, size_t at, size_t *ret_len)
{
	const struct ptc_part *p;

	if (sp->bytes) {
		*ret_len = sp->len - at;
		return sp->bytes + at;
	}
	p = &sp->parts[part_of(sp, at)];
	*ret_len = p->at + p->len - at;
	return p->bytes + (at - p->at);
}

void ptc_span_read(const struct ptc_span *sp, size_t at, uint8_t *ret, size_t n)
{
	const uint8_t *run;
	size_t len;

	for (; n; at += len, ret += len, n -= len) {
		run = ptc_span_run(sp, at, &len);
		if (len > n)
			len = n;
		memcpy(ret, run, len);
	}
}

/* Returns true if the @n bytes at @at equal @bytes. */
static bool equals(const struct ptc_span *sp, size_t at, const uint8_t *bytes, size_t n)
{
	const uint8_t *run;
	size_t len;

	for (; n; at += len, bytes += len, n -= len) {
		run = ptc_span_run(sp, at, &len);
		if (len > n)
			len = n;
		if (memcmp(run, bytes, len) != 0)
			return false;
	}
	return true;
}

/*
 * As in ptc_pkt_next_psb(): returns the last begin of a PSB in a run of its bytes. The run may go
 * on in the next part.
 */
static size_t last_of_run(const struct ptc_span *sp, size_t at)
{
	while (sp->len - at >= PTC_PSB_LEN + 2 && equals(sp, at + PTC_PSB_LEN, ptc_psb, 2))
		at += 2;
	return at;
}

size_t ptc_span_next_psb(const struct ptc_span *sp, size_t from)
{
	uint8_t seam[2 * (PTC_PSB_LEN - 1)];
	const uint8_t *run;
	size_t at, found, psb, len, n;

	for (at = from; at < sp->len; at += len) {
		run = ptc_span_run(sp, at, &len);
		found = ptc_pkt_next_psb(run, len, 0);
		if (found < len)
			return last_of_run(sp, at + found);
		/* across the border to the next parts */
		found = len < PTC_PSB_LEN - 1 ? at : at + len - (PTC_PSB_LEN - 1);
		n = sp->len - found < sizeof(seam) ? sp->len - found : sizeof(seam);
		ptc_span_read(sp, found, seam, n);
		psb = ptc_pkt_next_psb(seam, n, 0);
		if (psb < n)
			return last_of_run(sp, found + psb);
	}
	return sp->len;
}

static const uint8_t psbend[PTC_PSBEND_LEN] = { 0x02, 0x23 };

/* Finds a PSBEND in the @n bytes at @p, at least one; NULL: none. */
static const uint8_t *find_psbend(const uint8_t *p, size_t n)
{
	const uint8_t *at = p + 1, *hit;

	/* The second byte is the rarer one. memmem() would check every byte. */
	for (; (hit = memchr(at, psbend[1], n - (size_t)(at - p))) != NULL; at = hit + 1)
		if (hit[-1] == psbend[0])
			return hit - 1;
	return NULL;
}

size_t ptc_span_next_psbend(const struct ptc_span *sp, size_t from, size_t upto)
{
	const uint8_t *run, *hit;
	bool begun = false; /* the last byte in front of @at may begin a PSBEND */
	size_t at, len;

	for (at = from; at < upto; at += len) {
		run = ptc_span_run(sp, at, &len);
		if (len > upto - at)
			len = upto - at;
		if (begun && run[0] == psbend[1])
			return at - 1;
		hit = find_psbend(run, len);
		if (hit)
			return at + (size_t)(hit - run);
		begun = run[len - 1] == psbend[0];
	}
	return upto;
}

size_t ptc_span_skip_zeros(const struct ptc_span *sp, size_t n)
{
	const uint8_t *run;
	size_t at, i, len;

	for (at = 0; at < n; at += len) {
		run = ptc_span_run(sp, at, &len);
		for (i = 0; i < len; i++)
			if (at + i == n || run[i])
				return at + i;
	}
	return n;
}

static bool is_padding_at(const struct ptc_span *sp, size_t at)
{
	static const uint8_t zeros[PTC_PADDING_MAX];

	return sp->len - at <= PTC_PADDING_MAX && equals(sp, at, zeros, sp->len - at);
}

/*
 * Gets where AUXTRACE record @c begins in @sp. Returns false if it does not continue @sp.
 *
 * Records overlap by up to 7 bytes where the writer padded the earlier one to a multiple of 8. In
 * snapshots they overlap by more, because a record may repeat bytes of an earlier one. Then the
 * bytes must be equal. If not, the offsets are meaningless.
 */
static bool continues(const struct ptc_span *sp, const struct ptc_chunk *c, const uint8_t *bytes,
		      size_t *ret_at)
{
	const uint64_t end = sp->base + sp->len;
	size_t at;

	if (c->aux_off < sp->base || c->aux_off > end)
		return false;
	at = (size_t)(c->aux_off - sp->base);
	*ret_at = at;
	return is_padding_at(sp, at) ||
	       equals(sp, at, bytes, sp->len - at < c->size ? sp->len - at : (size_t)c->size);
}

/* The last AUXTRACE record of a span. */
struct tail {
	const uint8_t *bytes; /* NULL: none */
	size_t len;
};

/* Finds where @bytes continue the end of @sp, by comparing contents. */
static bool overlaps(const struct ptc_span *sp, const struct tail *t, const uint8_t *bytes,
		     size_t len, size_t *ret_at, size_t *ret_skip)
{
	size_t at;

	if (!ptc_overlap(t->bytes, t->len, bytes, len, &at, ret_skip))
		return false;
	*ret_at = sp->len - (t->len - at);
	return true;
}

/*
 * Gets where AUXTRACE record @c of @q continues @sp: its bytes from *ret_skip on belong at *ret_at
 * of the span. Returns false if it does not continue @sp.
 */
static bool place(const struct ptc_span *sp, const struct tail *t, const struct ptc_queue *q,
		  const struct ptc_chunk *c, const uint8_t *bytes, bool by_content, size_t *ret_at,
		  size_t *ret_skip)
{
	const size_t len = (size_t)c->size;

	if (q->samples)
		return overlaps(sp, t, bytes, len, ret_at, ret_skip);
	*ret_skip = 0;
	if (continues(sp, c, bytes, ret_at) && (!by_content || *ret_at < sp->len))
		return true;
	/* An offset behind the end means a hole, if offsets can be trusted. */
	if ((by_content || c->aux_off <= sp->base + sp->len) &&
	    overlaps(sp, t, bytes, len, ret_at, ret_skip))
		return true;
	*ret_skip = 0;
	return continues(sp, c, bytes, ret_at);
}

static bool add_part(struct ptc_span *sp, const uint8_t *bytes, size_t at, size_t len)
{
	if (!ptc_grow(&sp->parts, &sp->parts_cap, sp->nparts + 1, sizeof(*sp->parts)))
		return false;
	sp->parts[sp->nparts++] = (struct ptc_part){ bytes, at, len };
	return true;
}

/* Removes the bytes from @at on. @at is not 0. */
static void shorten(struct ptc_span *sp, size_t at)
{
	sp->len = at;
	while (sp->nparts && sp->parts[sp->nparts - 1].at >= at)
		sp->nparts--;
	if (sp->nparts)
		sp->parts[sp->nparts - 1].len = at - sp->parts[sp->nparts - 1].at;
}

/* Puts @n bytes at @at of the span, in place of its present bytes there. */
static bool extend(struct ptc_stream *s, struct ptc_span *sp, size_t at, const uint8_t *bytes,
		   size_t n)
{
	if (at + n <= sp->len)
		return true;
	s->bytes += at + n - sp->len;
	if (at && sp->bytes && !add_part(sp, sp->bytes, 0, sp->len))
		return false;
	sp->bytes = at ? NULL : bytes;
	shorten(sp, at);
	sp->len = at + n;
	return !at || add_part(sp, bytes, at, n);
}

int ptc_stream_join(struct ptc_stream *s, const struct ptc_file *f, const struct ptc_queue *q,
		    bool by_content, struct ptc_err *err)
{
	struct tail tail = { NULL, 0 };
	struct ptc_span *sp = NULL;
	size_t i, at, skip, was;

	for (i = 0; i < q->nchunks; i++) {
		const struct ptc_chunk *c = &q->chunks[i];
		const struct ptc_cur bytes = ptc_chunk_bytes(f, c);
		const size_t len = ptc_cur_left(&bytes);
		uint64_t end, base;

		if (!len)
			continue;
		if (!sp || !place(sp, &tail, q, c, bytes.pos, by_content, &at, &skip)) {
			end = sp ? sp->base + sp->len : c->aux_off;
			/* Samples have no offsets: they are placed one behind the other. */
			base = q->samples ? end : c->aux_off;
			sp = new_span(s, bytes.pos, len, base);
			if (!sp)
				return ptc_fail_mem(err);
			sp->lost = base > end ? base - end : 0;
			tail = (struct tail){ bytes.pos, len };
		} else {
			was = sp->len;
			if (!extend(s, sp, at, bytes.pos + skip, len - skip))
				return ptc_fail_mem(err);
			if (sp->len > was)
				tail = (struct tail){ bytes.pos, len };
		}
		sp->reference = c->reference;
	}
	return 0;
}

/* Copies the parts of @from behind @at to @to. */
static bool copy_parts(const struct ptc_span *from, size_t at, struct ptc_span *to)
{
	size_t i, off;

	for (i = part_of(from, at); i < from->nparts; i++) {
		const struct ptc_part *p = &from->parts[i];

		off = p->at < at ? at - p->at : 0;
		if (!add_part(to, p->bytes + off, p->at + off - at, p->len - off))
			return false;
	}
	return true;
}

/* Returns the index of the first cut behind @off. */
static size_t first_cut(const struct ptc_cut *cuts, size_t n, uint64_t off)
{
	return PTC_PARTITION_POINT(i, 0, n, cuts[i].off <= off);
}

static bool append_span(struct ptc_stream *s, const struct ptc_span *sp)
{
	if (!ptc_grow(&s->spans, &s->cap, s->n + 1, sizeof(*s->spans)))
		return false;
	s->spans[s->n++] = *sp;
	s->bytes += sp->len;
	return true;
}

/* Ends @head at @at. The rest is appended to @s. */
static bool split(struct ptc_stream *s, struct ptc_span *head, size_t at)
{
	struct ptc_span rest = {
		.bytes = head->bytes ? head->bytes + at : NULL,
		.len = head->len - at,
		.base = head->base + at,
		.reference = head->reference,
		.truncated = head->truncated,
	};

	/* Padding was added by the writer behind the last record. */
	if (rest.truncated || !is_padding_at(head, at)) {
		if ((!rest.bytes && !copy_parts(head, at, &rest)) || !append_span(s, &rest)) {
			free(rest.parts);
			return false;
		}
	}
	shorten(head, at);
	return true;
}

/*
 * Moves @sp to the end of @s, split at its cuts, starting with the last one. *ret_padding: the
 * number of bytes that were only padding.
 */
static bool move_span(struct ptc_stream *s, struct ptc_span *sp, struct ptc_cut *cuts, size_t n,
		      uint64_t *ret_padding)
{
	const uint64_t before = s->bytes;
	const size_t low = first_cut(cuts, n, sp->base), first = s->n;
	struct ptc_span head = *sp, tmp;
	size_t i, k = first_cut(cuts, n, sp->base + sp->len);
	bool good = true;

	sp->parts = NULL; /* owned by head from now on */
	while (good && k-- > low) {
		if (cuts[k].done)
			continue;
		cuts[k].done = true;
		if (cuts[k].off - head.base < head.len)
			good = split(s, &head, (size_t)(cuts[k].off - head.base));
		head.truncated = true;
	}
	if (!good || !append_span(s, &head)) {
		free(head.parts);
		return false;
	}
	for (i = 0; first + i < s->n - 1 - i; i++) {
		tmp = s->spans[first + i];
		s->spans[first + i] = s->spans[s->n - 1 - i];
		s->spans[s->n - 1 - i] = tmp;
	}
	*ret_padding = sp->len - (s->bytes - before);
	return true;
}

int ptc_stream_cut(struct ptc_stream *s, struct ptc_cut *cuts, size_t n, struct ptc_err *err)
{
	struct ptc_stream out = { .n = 0 };
	uint64_t padding = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < n; i++)
		cuts[i].done = false;
	if (!n)
		return 0;
	for (i = 0; i < s->n && !r; i++) {
		/* Padding in front of a hole was counted as bytes of the stream. */
		if (i && s->spans[i].lost)
			s->spans[i].lost += padding;
		r = move_span(&out, &s->spans[i], cuts, n, &padding) ? 0 : ptc_fail_mem(err);
	}
	ptc_stream_release(s);
	*s = out;
	return r;
}
