/* SPDX-License-Identifier: MIT */
#include "decode/stream/seek.h"

#include <stdlib.h>

#include "arch/pt_packet.h"
#include "base/err.h"

enum {
	BLOCK = 16 << 10,  /* bytes searched at once, backwards */
	LINEAR = 64 << 10, /* a range this short is not halved any more */
	WITH_BRANCHES_MAX = 1 << 20,
	PSB_PLUS_MAX = 256,    /* bytes of a PSB+ that are searched for its TSC */
	TAIL = PTC_PSB_LEN + 2 /* bytes needed to recognize the begin of a PSB */
};

static const size_t NONE = SIZE_MAX;

uint64_t ptc_range_left(const struct ptc_stream *s, struct ptc_spot p)
{
	uint64_t n = 0;
	size_t i;

	for (i = p.span; i < s->n; i++)
		n += s->spans[i].len;
	return n ? n - p.off : 0;
}

/* Returns the last PSB in @n bytes that begins in front of @before. */
static size_t last_psb(const uint8_t *bytes, size_t n, size_t before)
{
	size_t at, found = NONE;

	for (at = ptc_pkt_next_psb(bytes, n, 0); at < n && at < before;
	     at = ptc_pkt_next_psb(bytes, n, at + 1)) {
		/* 02 82 may be the end of the packet in front of a PSB. */
		if (n - at < TAIL || bytes[at + PTC_PSB_LEN] != 0x02 ||
		    bytes[at + PTC_PSB_LEN + 1] != 0x82)
			found = at;
	}
	return found;
}

/* Returns the last PSB of @sp that begins in front of @before, or NONE. */
static size_t prev_psb(const struct ptc_span *sp, size_t before)
{
	uint8_t block[BLOCK + TAIL];
	size_t from, n, found;

	for (; before; before = from) {
		from = before > BLOCK ? before - BLOCK : 0;
		n = before - from + TAIL;
		if (n > sp->len - from)
			n = sp->len - from;
		ptc_span_read(sp, from, block, n);
		found = last_psb(block, n, before - from);
		if (found != NONE)
			return from + found;
	}
	return NONE;
}

/*
 * Moves @p, which may be the end of its span, to the last PSB in front of it. Returns false if
 * there is none.
 */
static bool step_back(const struct ptc_stream *s, struct ptc_spot *p)
{
	struct ptc_spot at = *p;
	size_t psb;

	for (;;) {
		psb = prev_psb(&s->spans[at.span], at.off);
		if (psb != NONE)
			break;
		if (!at.span)
			return false;
		at.span--;
		at.off = s->spans[at.span].len;
	}
	*p = (struct ptc_spot){ at.span, psb };
	return true;
}

static uint64_t tsc_of(const uint8_t *packet)
{
	uint64_t v = 0;
	int i;

	for (i = 7; i; i--)
		v = v << 8 | packet[i];
	return v;
}

/* Gets the TSC of the PSB+ at @psb. Returns false if it has none. */
static bool read_tsc(const struct ptc_span *sp, size_t psb, uint64_t *ret)
{
	uint8_t bytes[PSB_PLUS_MAX];
	const size_t n = sp->len - psb < sizeof(bytes) ? sp->len - psb : sizeof(bytes);
	enum ptc_pkt type;
	size_t at;
	int len;

	ptc_span_read(sp, psb, bytes, n);
	for (at = 0; at < n; at += (size_t)len) {
		len = ptc_pkt_len(bytes + at, n - at, &type);
		if (len <= 0 || type == PTC_PKT_PSBEND)
			return false;
		if (type == PTC_PKT_TSC) {
			*ret = tsc_of(bytes + at);
			return true;
		}
	}
	return false;
}

bool ptc_range_time_at(const struct ptc_span *sp, const struct ptc_tsc_clock *clock, size_t psb,
		       uint64_t *ret_ns)
{
	uint64_t tsc;

	if (!read_tsc(sp, psb, &tsc))
		return false;
	*ret_ns = ptc_tsc_clock_ns(clock, tsc, sp->reference);
	return true;
}

size_t ptc_range_next_timed(const struct ptc_span *sp, const struct ptc_tsc_clock *clock,
			    size_t from, uint64_t *ret_ns)
{
	for (from = ptc_span_next_psb(sp, from); from < sp->len;
	     from = ptc_span_next_psb(sp, from + PTC_PSB_LEN))
		if (ptc_range_time_at(sp, clock, from, ret_ns))
			return from;
	return sp->len;
}

/* Returns the last PSB with a time before @time_ns; @at is such a PSB. */
static size_t narrow(const struct ptc_span *sp, const struct ptc_tsc_clock *clock, size_t at,
		     uint64_t time_ns)
{
	size_t hi = sp->len, mid;
	uint64_t ns = 0;

	while (hi - at > LINEAR) {
		mid = ptc_range_next_timed(sp, clock, at + (hi - at) / 2, &ns);
		if (mid < hi && ns < time_ns)
			at = mid;
		else
			hi = at + (hi - at) / 2;
	}
	while ((mid = ptc_range_next_timed(sp, clock, at + PTC_PSB_LEN, &ns)) < sp->len &&
	       ns < time_ns)
		at = mid;
	return at;
}

struct ptc_spot ptc_range_at_time(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
				  uint64_t time_ns)
{
	uint64_t ns = 0;
	size_t i, at;

	for (i = s->n; i-- > 0;) {
		at = ptc_range_next_timed(&s->spans[i], clock, 0, &ns);
		if (at < s->spans[i].len && ns < time_ns)
			return (struct ptc_spot){ i, narrow(&s->spans[i], clock, at, time_ns) };
	}
	return (struct ptc_spot){ 0, 0 };
}

/*
 * Counts branches in a packet. A taken branch, or a compressed return, is a 1 bit; so is the bit
 * above the first one. Entries and exits have packets of their own.
 */
static uint64_t count_packet(const uint8_t *p, enum ptc_pkt type, int len)
{
	uint64_t n = 0;
	int i;

	if (type == PTC_PKT_TIP || type == PTC_PKT_TIP_PGE || type == PTC_PKT_TIP_PGD)
		return 1;
	if (type == PTC_PKT_TNT)
		return (uint64_t)__builtin_popcount(p[0]) - 1;
	if (type != PTC_PKT_TNT64)
		return 0;
	for (i = 2; i < len; i++)
		n += (uint64_t)__builtin_popcount(p[i]);
	return n ? n - 1 : 0;
}

/* Gets a lower limit of the number of branches in [from, to) of @sp. @from is a PSB. */
static int count_transfers(const struct ptc_span *sp, size_t from, size_t to, uint64_t *ret,
			   struct ptc_err *err)
{
	uint8_t *copy = sp->bytes ? NULL : malloc(to - from);
	const uint8_t *p = sp->bytes ? sp->bytes + from : copy, *end;
	enum ptc_pkt type;
	uint64_t n = 0;
	int len;

	if (!p)
		return ptc_fail_mem(err);
	if (copy)
		ptc_span_read(sp, from, copy, to - from);
	for (end = p + (to - from); p < end; p += len) {
		len = ptc_pkt_len(p, (size_t)(end - p), &type);
		if (len <= 0)
			break;
		n += count_packet(p, type, len);
	}
	free(copy);
	*ret = n;
	return 0;
}

int ptc_range_at_last(const struct ptc_stream *s, uint64_t n, struct ptc_spot *ret,
		      struct ptc_err *err)
{
	struct ptc_spot at, end;
	uint64_t sum = 0, some = 0;
	int r;

	*ret = (struct ptc_spot){ 0, 0 };
	if (!s->n)
		return 0;
	at = end = (struct ptc_spot){ s->n - 1, s->spans[s->n - 1].len };
	for (; sum < n; end = at) {
		if (!step_back(s, &at))
			return 0;
		if (at.span != end.span)
			end.off = s->spans[at.span].len;
		r = count_transfers(&s->spans[at.span], at.off, end.off, &some, err);
		if (r < 0)
			return r;
		sum += some;
	}
	if (step_back(s, &at))
		*ret = at;
	return 0;
}

struct ptc_spot ptc_range_with_branches(const struct ptc_stream *s, struct ptc_spot p, uint64_t n)
{
	struct ptc_spot at = p, end = p;
	uint64_t bytes = 0, sum = 0, some = 0;
	struct ptc_err err;

	while (sum < n && bytes < WITH_BRANCHES_MAX) {
		if (!step_back(s, &at))
			return (struct ptc_spot){ 0, 0 };
		if (at.span != end.span)
			end = (struct ptc_spot){ at.span, s->spans[at.span].len };
		if (count_transfers(&s->spans[at.span], at.off, end.off, &some, &err) < 0)
			break;
		sum += some;
		bytes += end.off - at.off;
		end = at;
	}
	return at;
}

struct ptc_spot ptc_range_back(const struct ptc_stream *s, struct ptc_spot p, uint64_t bytes)
{
	while (bytes > p.off && p.span) {
		bytes -= p.off;
		p.span--;
		p.off = s->spans[p.span].len;
	}
	if (bytes >= p.off)
		return (struct ptc_spot){ 0, 0 };
	p.off -= (size_t)bytes;
	return step_back(s, &p) ? p : (struct ptc_spot){ 0, 0 };
}

/* Gets the last TSC packet of [from, length) of @sp. *@ret is unchanged if there is none. */
static void last_tsc(const struct ptc_span *sp, size_t from, uint64_t *ret)
{
	uint8_t bytes[BLOCK];
	size_t n, at;
	enum ptc_pkt type;
	int len = 1;

	while (from < sp->len && len > 0) {
		n = sp->len - from < BLOCK ? sp->len - from : BLOCK;
		ptc_span_read(sp, from, bytes, n);
		for (at = 0; at < n; at += (size_t)len) {
			len = ptc_pkt_len(bytes + at, n - at, &type);
			if (len <= 0)
				break;
			if (type == PTC_PKT_TSC)
				*ret = tsc_of(bytes + at);
		}
		if (!len && at && n == BLOCK)
			len = 1; /* cut off only by the end of the block */
		from += at;
	}
}

bool ptc_range_times(const struct ptc_stream *s, const struct ptc_tsc_clock *clock,
		     uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	struct ptc_spot last;
	const struct ptc_span *sp;
	uint64_t tsc;
	size_t i;

	if (!clock->valid)
		return false;
	for (i = 0; i < s->n; i++)
		if (ptc_range_next_timed(&s->spans[i], clock, 0, ret_first_ns) < s->spans[i].len)
			break;
	if (i == s->n)
		return false;
	last = ptc_range_at_time(s, clock, UINT64_MAX);
	sp = &s->spans[last.span];
	if (!read_tsc(sp, last.off, &tsc))
		return false;
	last_tsc(sp, last.off, &tsc);
	*ret_last_ns = ptc_tsc_clock_ns(clock, tsc, sp->reference);
	return true;
}
