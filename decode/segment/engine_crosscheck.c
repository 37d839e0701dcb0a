/* SPDX-License-Identifier: MIT */
/* Compares the items that libipt lists for a segment with those of the second engine. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "decode/libipt/replay_state.h"
#include "decode/segment/segment.h"

enum { PACKETS_BEFORE = 8, PACKETS_BEHIND = 4, PACKET_MAX = 32 };

/* A string buffer. Text beyond its capacity is cut off. */
struct text {
	char *buf;
	size_t len, cap;
};

static void append_text(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void append_text(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, t->cap - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len = (size_t)n < t->cap - t->len ? t->len + (size_t)n : t->cap - 1;
}

static void add_packet(struct text *t, const struct ptc_replay *r, size_t at, size_t n,
		       enum ptc_pkt type)
{
	size_t i;

	append_text(t, "\n  0x%" PRIx64 " %-8s", span_of(r)->base + at, ptc_pkt_name(type));
	for (i = 0; i < n && i < PACKET_MAX; i++)
		append_text(t, " %02x", r->window.bytes[at + i]);
}

/*
 * Adds the packets around @where, starting at the PSB at which decoding began. Behind the last gap
 * of a trace there is no window.
 */
static void add_packets(struct text *t, const struct ptc_replay *r, size_t where)
{
	const size_t end = r->window.upto < span_of(r)->len ? r->window.upto : span_of(r)->len;
	size_t ring[PACKETS_BEFORE], n = 0, at = r->place.from, i;
	enum ptc_pkt type;
	int len;

	if (!r->window.bytes)
		return;
	for (; at < where; at += (size_t)len) {
		len = ptc_pkt_len(r->window.bytes + at, end - at, &type);
		if (len <= 0)
			return;
		ring[n++ % PACKETS_BEFORE] = at;
	}
	if (n)
		at = ring[n > PACKETS_BEFORE ? n % PACKETS_BEFORE : 0];
	n = n < PACKETS_BEFORE ? n : PACKETS_BEFORE;
	for (i = 0; i < n + PACKETS_BEHIND && at < end; i++, at += (size_t)len) {
		len = ptc_pkt_len(r->window.bytes + at, end - at, &type);
		if (len <= 0)
			return;
		add_packet(t, r, at, (size_t)len, type);
	}
}

static void add_transfer(struct text *t, uint64_t from, uint64_t to, uint8_t kind, uint64_t time)
{
	append_text(t, "%" PRIx64 " -> %" PRIx64 " %s", from, to,
		    ptc_kind_name((enum ptc_kind)kind));
	if (time != PTC_NO_TIME)
		append_text(t, " at %" PRIu64 " ns", time);
}

/*
 * Reports a difference. @got: from libipt; @want: from the second engine; each may be NULL (none).
 */
static void differ(struct ptc_replay *r, const struct ptc_item *got, const struct ptc_item *want,
		   const char *what)
{
	struct ptc_engine *e = r->conf.engine;
	struct text t = { e->difference, 0, sizeof(e->difference) };

	r->piece.active = false;
	if (e->stats.differing++)
		return;
	append_text(&t, "queue %" PRIu32 ", before 0x%" PRIx64 ": %s", r->conf.queue,
		    span_of(r)->base + r->place.off, what);
	if (got) {
		append_text(&t, "; libipt lists ");
		if (got->type == PTC_ITEM_BRANCH)
			add_transfer(&t, got->from, got->to, got->kind, got->time);
		else
			append_text(&t, "no branch");
	}
	if (want) {
		append_text(&t, ", the second engine ");
		add_transfer(&t, want->from, want->to, want->kind, want->time);
	}
	add_packets(&t, r, r->place.off);
}

/* Gets the next expected item. Returns false if there is none. */
static bool next_expected_item(struct ptc_replay *r, struct ptc_item *ret)
{
	struct ptc_segment *p = &r->piece;
	struct ptc_fast_rec rec;

	if (p->pending) {
		p->pending = false;
		*ret = p->first;
		return true;
	}
	if (p->next == p->n)
		return false;
	while (p->next_mark < p->nmarks && p->marks[p->next_mark].recs <= p->next)
		p->time = p->marks[p->next_mark++].tsc;
	rec = p->recs[p->next++];
	*ret = (struct ptc_item){ .from = ptc_fast_rec_from(rec),
				  .to = rec.to,
				  .time = p->time,
				  .kind = (uint8_t)ptc_fast_rec_kind(rec) };
	return true;
}

static bool is_same(const struct ptc_item *a, const struct ptc_item *b)
{
	return a->type == PTC_ITEM_BRANCH && a->from == b->from && a->to == b->to &&
	       a->kind == b->kind && a->time == b->time;
}

void ptc_segment_expect(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;

	p->ran = 0;
	/* The same condition as in ptc_branch_builder_land(). */
	p->pending = p->has_land && r->trail.last.valid && r->trail.last.kind != PTC_KIND_NONE &&
		     (r->trail.last.kind != PTC_KIND_JCC ||
		      p->land != r->trail.last.ip + r->trail.last.len);
	p->first = (struct ptc_item){ .from = r->trail.last.ip,
				      .to = p->land,
				      .kind = r->trail.last.kind,
				      .time = r->trail.last.time };
}

/*
 * Returns true if libipt, in one step, came to the end of the segment and on to the end of the
 * bytes.
 */
static bool came_behind(const struct ptc_replay *r)
{
	const struct ptc_segment *p = &r->piece;

	return !r->dec && !r->seeking && r->place.from == p->end && p->next == p->n &&
	       !p->pending && p->ran == p->insns;
}

void ptc_segment_check(struct ptc_replay *r, size_t first)
{
	const struct ptc_out *o = &r->out;
	struct ptc_item want;
	size_t i;

	for (i = first; i < o->n; i++) {
		if (!next_expected_item(r, &want)) {
			differ(r, &o->items[i], NULL, "the second engine lists less");
			return;
		}
		if (!is_same(&o->items[i], &want)) {
			differ(r, &o->items[i], &want, "not the same");
			return;
		}
	}
	if (came_behind(r))
		r->piece.active = false;
	else if (r->seeking || r->gap.open || !r->dec)
		differ(r, NULL, NULL, "here libipt fails, and the second engine goes on");
}

void ptc_segment_check_end(struct ptc_replay *r)
{
	const struct ptc_segment *p = &r->piece;
	struct ptc_item want;

	if (next_expected_item(r, &want))
		differ(r, NULL, &want, "libipt lists less");
	else if (r->place.from != p->end)
		differ(r, NULL, NULL, "libipt went on elsewhere");
	else if (p->ran != p->insns)
		differ(r, NULL, NULL, "another number of instructions");
	else if (r->trail.last.valid != p->has_last ||
		 (p->has_last &&
		  (r->trail.last.ip != p->last_ip || r->trail.last.kind != p->last_kind ||
		   r->trail.last.len != p->last_len || r->trail.last.time != p->last_time)))
		differ(r, NULL, NULL, "another last instruction");
	r->piece.active = false;
}
