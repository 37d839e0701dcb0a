/* SPDX-License-Identifier: MIT */
#include "decode/session/shard.h"

#include "arch/pt_packet.h"
#include "decode/stream/seek.h"

/* A border may be off by this part of a shard, because a closer search costs time. */
enum { EXACT = 64 };

static struct ptc_spot end_of_trace(const struct ptc_stream *s)
{
	return (struct ptc_spot){ s->n, 0 };
}

static uint64_t all_bytes(const struct ptc_shard_trace *t)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		bytes += ptc_range_left(t->queues[i], (struct ptc_spot){ 0, 0 });
	return bytes;
}

/* Returns @k / @n of @bytes, without overflow. */
static uint64_t share_of(uint64_t bytes, uint32_t k, uint32_t n)
{
	return bytes / n * k + bytes % n * k / n;
}

/* --- with times --- */

/*
 * Returns the first PSB at or behind @from with a time not before @ns, or the end. Gets that time.
 */
static struct ptc_spot first_psb_at(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
				    struct ptc_spot from, uint64_t ns, uint64_t *ret_ns)
{
	uint64_t time = 0;

	for (; from.span < s->n; from = (struct ptc_spot){ from.span + 1, 0 }) {
		const struct ptc_span *sp = &s->spans[from.span];

		for (;; from.off += PTC_PSB_LEN) {
			from.off = ptc_range_next_timed(sp, clock, from.off, &time);
			if (from.off == sp->len)
				break;
			if (time >= ns) {
				*ret_ns = time;
				return from;
			}
		}
	}
	return end_of_trace(s);
}

static struct ptc_queue_border cut_at_time(const struct ptc_stream *s,
					   const struct ptc_tsc_clock *clock, uint64_t ns,
					   uint64_t *ret_psb_ns)
{
	const struct ptc_spot arm = ptc_range_at_time(s, clock, ns);

	return (struct ptc_queue_border){ .arm = arm,
					  .at = first_psb_at(s, clock, arm, ns, ret_psb_ns),
					  .ns = ns };
}

/* Returns the number of bytes in front of @ns. *@ret_ns: the time of the first PSB from there on.
 */
static uint64_t bytes_before(const struct ptc_shard_trace *t, uint64_t ns, uint64_t *ret_ns)
{
	uint64_t bytes = 0, time;
	size_t i;

	*ret_ns = UINT64_MAX;
	for (i = 0; i < t->n; i++) {
		const struct ptc_stream *s = t->queues[i];
		struct ptc_queue_border cut;

		time = UINT64_MAX;
		cut = cut_at_time(s, t->clock, ns, &time);
		bytes += ptc_range_left(s, (struct ptc_spot){ 0, 0 }) - ptc_range_left(s, cut.at);
		*ret_ns = time < *ret_ns ? time : *ret_ns;
	}
	return bytes;
}

/* Gets the first and the last time. Returns false if there is none. */
static bool get_times(const struct ptc_shard_trace *t, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t first, last;
	size_t i;

	*ret_first = UINT64_MAX;
	*ret_last = 0;
	for (i = 0; i < t->n; i++) {
		if (!ptc_range_times(t->queues[i], t->clock, &first, &last))
			continue;
		*ret_first = first < *ret_first ? first : *ret_first;
		*ret_last = last > *ret_last ? last : *ret_last;
	}
	return *ret_first <= *ret_last;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Halves the time. Searches for different borders halve the same times, until a time is between
 * the borders. Then the PSB from that time on limits both: from below, and from above. So borders
 * do not decrease, even if damaged times do.
 */
static uint64_t time_of_bytes(const struct ptc_shard_trace *t, uint64_t want, uint64_t slack)
{
	uint64_t lo, hi, lo_bytes = 0, hi_bytes = all_bytes(t), mid, bytes, psb, lo_psb, hi_psb;

	if (!get_times(t, &lo, &hi))
		return UINT64_MAX;
	lo_psb = lo;
	hi_psb = ++hi; /* all PSBs are in front of it */
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		bytes = bytes_before(t, mid, &psb);
		psb = psb < lo_psb ? lo_psb : psb < hi_psb ? psb : hi_psb;
		if (distance(bytes, want) <= slack)
			return psb;
		if (bytes < want) {
			lo = mid;
			lo_bytes = bytes;
			lo_psb = psb;
		} else {
			hi = mid;
			hi_bytes = bytes;
			hi_psb = psb;
		}
	}
	/* PSBs of one time are between the two. */
	return distance(lo_bytes, want) < distance(hi_bytes, want) ? lo_psb : hi_psb;
}

/* --- without times --- */

/* Returns the offset of @p from the begin of @s. */
static uint64_t offset_of(const struct ptc_stream *s, struct ptc_spot p)
{
	return ptc_range_left(s, (struct ptc_spot){ 0, 0 }) - ptc_range_left(s, p);
}

/* Returns the place at @off of @s, which is inside. */
static struct ptc_spot spot_at(const struct ptc_stream *s, uint64_t off)
{
	struct ptc_spot p = { 0, 0 };

	while (p.span + 1 < s->n && off >= s->spans[p.span].len)
		off -= s->spans[p.span++].len;
	p.off = (size_t)off;
	return p;
}

/* Returns the first PSB at or behind @p, or the end. */
static struct ptc_spot psb_from(const struct ptc_stream *s, struct ptc_spot p)
{
	for (; p.span < s->n; p = (struct ptc_spot){ p.span + 1, 0 }) {
		p.off = ptc_span_next_psb(&s->spans[p.span], p.off);
		if (p.off < s->spans[p.span].len)
			return p;
	}
	return p;
}

/* Returns the PSB next to @off of queue @i; the begin of the queue, and its end, count as PSBs. */
static struct ptc_shard_border border_near(const struct ptc_shard_trace *t, size_t i, uint64_t off)
{
	const struct ptc_stream *s = t->queues[i];
	const struct ptc_spot at = spot_at(s, off);
	const struct ptc_spot behind = psb_from(s, at), front = ptc_range_back(s, at, 0);

	if (distance(offset_of(s, front), off) < distance(offset_of(s, behind), off))
		return (struct ptc_shard_border){ .queue = i, .spot = front };
	if (behind.span < s->n)
		return (struct ptc_shard_border){ .queue = i, .spot = behind };
	return (struct ptc_shard_border){ .queue = i + 1 };
}

static struct ptc_shard_border border_of_bytes(const struct ptc_shard_trace *t, uint64_t want)
{
	uint64_t bytes;
	size_t i;

	for (i = 0; i < t->n; i++) {
		bytes = ptc_range_left(t->queues[i], (struct ptc_spot){ 0, 0 });
		if (want < bytes)
			return border_near(t, i, want);
		want -= bytes;
	}
	return (struct ptc_shard_border){ .queue = t->n };
}

static struct ptc_queue_border cut_at_spot(struct ptc_spot spot)
{
	return (struct ptc_queue_border){ .arm = spot, .at = spot };
}

/* --- both --- */

struct ptc_shard_border ptc_shard_border_of(const struct ptc_shard_trace *t, uint32_t k, uint32_t n)
{
	const uint64_t bytes = all_bytes(t);
	struct ptc_shard_border b = { .ns = UINT64_MAX };
	uint64_t ns;

	if (!t->clock->valid)
		return border_of_bytes(t, share_of(bytes, k, n));
	if (t->least_ns == UINT64_MAX)
		return b;
	ns = time_of_bytes(t, share_of(bytes, k, n), bytes / n / EXACT);
	b.ns = ns > t->least_ns ? ns : t->least_ns;
	return b;
}

struct ptc_queue_border ptc_shard_cut(const struct ptc_shard_trace *t,
				      const struct ptc_shard_border *b, size_t i)
{
	const struct ptc_stream *s = t->queues[i];
	uint64_t ns;

	if (t->clock->valid)
		return cut_at_time(s, t->clock, b->ns, &ns);
	if (i == b->queue)
		return cut_at_spot(b->spot);
	return i < b->queue ? ptc_shard_end(t, i) : ptc_shard_begin();
}

struct ptc_queue_border ptc_shard_begin(void)
{
	return (struct ptc_queue_border){ .ns = 0 };
}

struct ptc_queue_border ptc_shard_end(const struct ptc_shard_trace *t, size_t i)
{
	const struct ptc_spot end = end_of_trace(t->queues[i]);

	return (struct ptc_queue_border){ .arm = end, .at = end, .ns = UINT64_MAX };
}
