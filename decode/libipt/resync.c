/* SPDX-License-Identifier: MIT */
#include "decode/libipt/resync.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/image/addrspace.h"
#include "decode/stream/psb.h"
#include "decode/stream/stream.h"
#include "decode/stream/window.h"

enum {
	PACKET_MAX = 512, /* bytes; a BBP with its BIPs has about 300 */
	REST_MAX = 64,	  /* bytes behind the FUP of a PSB+: only a few packets */
};

struct packet {
	enum ptc_pkt type;
	size_t off, len;
	bool has_ip;
	uint64_t ip;
	/* state of the walker in front of it */
	bool bound;
	uint64_t last_ip;
};

void ptc_walker_init(struct ptc_walker *r, const uint8_t *bytes, size_t len)
{
	/* MODE.Exec of 64-bit code, until the trace says otherwise. */
	*r = (struct ptc_walker){ .bytes = bytes, .len = len, .mode = { 0x99, 0x01 } };
}

void ptc_walker_init_window(struct ptc_walker *r, struct ptc_window *w)
{
	ptc_walker_init(r, w->bytes, w->span->len);
	r->span = w->span;
	r->window = w;
}

void ptc_walker_begin(struct ptc_walker *r, size_t at)
{
	r->pos = at;
	r->synced = true;
}

static bool has_ip(enum ptc_pkt type)
{
	return type == PTC_PKT_TIP || type == PTC_PKT_TIP_PGE || type == PTC_PKT_TIP_PGD ||
	       type == PTC_PKT_FUP;
}

/* Records the time of the packet at @p, if it is a timing packet. */
static void save_time_packet(struct ptc_walker *r, const uint8_t *p, enum ptc_pkt type)
{
	switch (type) {
	case PTC_PKT_TSC:
		memcpy(r->tsc, p, sizeof(r->tsc));
		r->has_tsc = r->new_tsc = true;
		r->has_tma = r->new_mtc = false;
		break;
	case PTC_PKT_TMA:
		memcpy(r->tma, p, sizeof(r->tma));
		r->has_tma = true;
		r->has_mtc = false;
		r->mtcs = 0;
		break;
	case PTC_PKT_MTC:
		r->mtcs += r->has_mtc ? (uint8_t)(p[1] - r->mtc) : 1;
		r->mtc = p[1];
		r->has_mtc = true;
		r->new_mtc = r->has_tsc && r->has_tma;
		break;
	case PTC_PKT_CBR:
		memcpy(r->cbr, p, sizeof(r->cbr));
		r->has_cbr = true;
		break;
	default:
		break;
	}
}

/*
 * Takes the packet at pos. Returns false if it is incomplete, or bytes are no packet; r->synced
 * says which.
 */
static bool read_packet_at_pos(struct ptc_walker *r, struct packet *ret)
{
	const uint8_t *p = r->bytes + r->pos;
	int n;

	if (r->window)
		ptc_window_need(r->window, r->pos, PACKET_MAX);
	n = ptc_pkt_len(p, r->len - r->pos, &ret->type);
	if (n <= 0) {
		r->synced = n == 0;
		return false;
	}
	ret->off = r->pos;
	ret->len = (size_t)n;
	ret->has_ip = false;
	ret->bound = r->bound;
	ret->last_ip = r->last_ip;
	r->pos += ret->len;
	save_time_packet(r, p, ret->type);
	switch (ret->type) {
	case PTC_PKT_PSB:
		r->last_ip = 0;
		r->in_psb = true;
		r->bound = false;
		break;
	case PTC_PKT_PSBEND:
		r->in_psb = false;
		break;
	case PTC_PKT_OVF:
		r->in_psb = false;
		r->bound = false;
		break;
	case PTC_PKT_MODE:
		if (p[1] >> 5 == 0)
			memcpy(r->mode, p, sizeof(r->mode));
		break;
	default:
		if (ret->type == PTC_PKT_TNT || ret->type == PTC_PKT_TNT64 ||
		    (has_ip(ret->type) && ret->type != PTC_PKT_FUP))
			r->in_psb = false; /* its PSBEND was lost */
		if (has_ip(ret->type)) {
			ret->has_ip = ptc_pkt_ip(p, r->last_ip, &ret->ip);
			r->last_ip = ret->ip;
		}
		break;
	}
	return true;
}

/* Remembers the first of the packets that belong to a later FUP. */
static void note_binding(struct ptc_walker *r, const struct packet *k)
{
	if (r->in_psb || ptc_pkt_is_timing(k->type))
		return;
	if (!ptc_pkt_waits_for_fup(r->bytes + k->off, k->type))
		r->bound = false;
	else if (!r->bound) {
		r->bound = true;
		r->bind = k->off;
	}
}

static void graft_put(struct ptc_resume *g, const void *bytes, size_t n)
{
	memcpy(g->graft + g->graft_len, bytes, n);
	g->graft_len += n;
}

/* Adds a TIP.PGE or FUP with a full IP: IPBytes 6. */
static void graft_ip(struct ptc_resume *g, uint8_t opcode, uint64_t ip)
{
	uint8_t p[9] = { (uint8_t)(opcode | 6 << 5) };
	int i;

	for (i = 0; i < 8; i++)
		p[1 + i] = (uint8_t)(ip >> (8 * i));
	graft_put(g, p, sizeof(p));
}

/*
 * Builds a PSB+ for @k. TIP, FUP: the flow is at its IP. OVF: tracing is off, and the OVF itself
 * says what follows. TIP.PGE: tracing is switched on at its IP.
 */
static void graft(const struct ptc_walker *r, const struct packet *k, struct ptc_resume *g)
{
	static const uint8_t psbend[2] = { 0x02, 0x23 };

	g->how = PTC_RESUME_GRAFT;
	g->graft_len = 0;
	graft_put(g, ptc_psb, sizeof(ptc_psb));
	if (r->has_tsc)
		graft_put(g, r->tsc, sizeof(r->tsc));
	/* The next MTC counts from the TMA, if the 8-bit counter cannot have wrapped since. */
	if (r->has_tsc && r->has_tma && r->mtcs < UINT8_MAX)
		graft_put(g, r->tma, sizeof(r->tma));
	if (r->has_cbr)
		graft_put(g, r->cbr, sizeof(r->cbr));
	switch (k->type) {
	case PTC_PKT_TIP_PGE:
		graft_put(g, psbend, sizeof(psbend));
		graft_put(g, r->mode, sizeof(r->mode));
		graft_ip(g, 0x11, k->ip);
		break;
	case PTC_PKT_OVF:
		graft_put(g, r->mode, sizeof(r->mode));
		graft_put(g, psbend, sizeof(psbend));
		break;
	default:
		graft_put(g, r->mode, sizeof(r->mode));
		graft_ip(g, 0x1d, k->ip);
		graft_put(g, psbend, sizeof(psbend));
		break;
	}
}

/* Returns the end of the PSB+ that the FUP @k may belong to, although its PSB is lost; 0: none. */
static size_t psb_end(const struct ptc_walker *r, const struct packet *k)
{
	const size_t from = k->off + k->len;
	size_t n = r->len - from;

	if (k->bound)
		return 0;
	if (n > REST_MAX)
		n = REST_MAX;
	if (r->window)
		ptc_window_need(r->window, from, n);
	n = ptc_psb_rest_len(r->bytes + from, n);
	return n ? from + n : 0;
}

/*
 * Goes on at the FUP @k: with the packets that it belongs to, or behind the FUP if they came too
 * early.
 */
static void resume_at_fup(struct ptc_walker *r, const struct packet *k, size_t floor,
			  struct ptc_resume *ret)
{
	const size_t end = psb_end(r, k);
	struct packet rest;

	ret->off = k->off;
	ret->next = !k->bound ? k->off : r->bind >= floor ? r->bind : k->off + k->len;
	if (ret->next < ret->off)
		ret->off = ret->next;
	/* The graft has the other contents of that PSB+. */
	while (r->pos < end && read_packet_at_pos(r, &rest))
		ret->next = end;
}

/* Returns true if @k is a resume point, and fills *@ret. */
static bool resume_at(struct ptc_walker *r, const struct packet *k, size_t floor,
		      const struct ptc_addrspace *as, struct ptc_resume *ret)
{
	switch (k->type) {
	case PTC_PKT_PSB:
		ret->how = PTC_RESUME_PSB;
		ret->off = k->off;
		return true;
	case PTC_PKT_OVF:
		ret->off = ret->next = k->off;
		break;
	case PTC_PKT_TIP:
	case PTC_PKT_TIP_PGE:
		if (!k->has_ip || !ptc_addrspace_has(as, k->ip))
			return false;
		ret->off = k->off;
		ret->next = k->off + k->len;
		break;
	case PTC_PKT_FUP:
		if (r->in_psb || !k->has_ip || !ptc_addrspace_has(as, k->ip))
			return false;
		resume_at_fup(r, k, floor, ret);
		break;
	default:
		return false;
	}
	graft(r, k, ret);
	return true;
}

/* Returns true if the code decides whether @k is a resume point. */
static bool needs_code(const struct ptc_walker *r, const struct packet *k)
{
	return k->type == PTC_PKT_TIP || k->type == PTC_PKT_TIP_PGE ||
	       (k->type == PTC_PKT_FUP && !r->in_psb);
}

/* Returns true if the time at @k may be later than the last known time, and that matters. */
static bool may_be_later(const struct ptc_walker *r, const struct packet *k)
{
	return (r->new_tsc && needs_code(r, k)) ||
	       (r->new_mtc && r->rate.d && k->type == PTC_PKT_TIP_PGE && k->has_ip);
}

/*
 * Returns the TSC ticks from the CTC tick in front of the TMA's TSC packet to the last MTC; 0:
 * unknown.
 */
static uint64_t mtc_ticks(const struct ptc_walker *r)
{
	const uint64_t into = ptc_le16(r->tma + 2) & ((1u << r->rate.freq) - 1);
	uint64_t ticks;

	/* The first MTC is at the next multiple of a period. */
	if (!r->has_tma || !r->has_mtc || !r->rate.d || r->mtcs > UINT32_MAX ||
	    __builtin_mul_overflow(((uint64_t)r->mtcs << r->rate.freq) - into, r->rate.n, &ticks))
		return 0;
	return ticks / r->rate.d;
}

uint64_t ptc_walker_tsc(const struct ptc_walker *r)
{
	const uint64_t tsc = ptc_le64(r->tsc) >> 8, ticks = mtc_ticks(r);
	const uint64_t behind = ptc_le16(r->tma + 5) & 0x1ff;

	return (tsc + (ticks > behind ? ticks - behind : 0)) & (((uint64_t)1 << 56) - 1);
}

/* Returns the first PSB at or behind @from. The result is cached. */
static size_t next_psb(struct ptc_walker *r, size_t from)
{
	if (r->next_psb < from || !r->next_psb)
		r->next_psb = r->span ? ptc_span_next_psb(r->span, from) :
					ptc_pkt_next_psb(r->bytes, r->len, from);
	return r->next_psb;
}

void ptc_walker_to_psb(struct ptc_walker *r, size_t floor, struct ptc_resume *ret)
{
	/* A PSB found for a smaller floor may be closer, but no PSB is between the two. */
	ret->off = next_psb(r, floor);
	ret->how = ret->off < r->len ? PTC_RESUME_PSB : PTC_RESUME_END;
	ret->floor = ret->off < r->len ? ret->off + PTC_PSB_LEN : r->len;
}

/* Moves to the last PSB at or in front of @floor, if that saves walking. */
static void skip_to_psb(struct ptc_walker *r, size_t floor)
{
	size_t at = r->pos;

	while (next_psb(r, at) <= floor && r->next_psb < r->len) {
		r->pos = r->next_psb;
		r->synced = true;
		r->has_tma = false; /* the skipped MTCs were not counted */
		at = r->pos + PTC_PSB_LEN;
	}
}

static bool is_psb(const struct ptc_walker *r, size_t at)
{
	if (r->len - at < PTC_PSB_LEN)
		return false;
	if (r->window)
		ptc_window_need(r->window, at, PTC_PSB_LEN);
	return !memcmp(r->bytes + at, ptc_psb, PTC_PSB_LEN);
}

/*
 * Takes the packet at pos, and skips bytes that only look like a packet. Returns false if there is
 * none.
 */
static bool next_packet(struct ptc_walker *r, struct packet *ret)
{
	size_t psb;

	while (r->synced && r->pos < r->len) {
		psb = next_psb(r, r->pos);
		if (!read_packet_at_pos(r, ret))
			return false;
		/* Bytes with the begin of a PSB inside are no packet. */
		if (ret->off >= psb || psb >= r->pos || is_psb(r, r->pos))
			return true;
		r->pos = psb;
		r->bound = false;
	}
	return false;
}

void ptc_walker_pass(struct ptc_walker *r, size_t upto)
{
	struct packet k;

	skip_to_psb(r, upto);
	while (r->pos < upto && next_packet(r, &k))
		note_binding(r, &k);
}

void ptc_walker_to_packet(struct ptc_walker *r, size_t floor, const struct ptc_addrspace *as,
			  struct ptc_resume *ret)
{
	struct packet k;

	skip_to_psb(r, floor);
	while (next_packet(r, &k)) {
		if (k.off >= floor && may_be_later(r, &k)) {
			r->new_tsc = r->new_mtc = false;
			r->pos = k.off;
			r->last_ip = k.last_ip;
			ret->how = PTC_RESUME_LATER;
			return;
		}
		if (k.off >= floor && resume_at(r, &k, floor, as, ret)) {
			note_binding(r, &k);
			ret->floor = r->pos;
			return;
		}
		note_binding(r, &k);
	}
	/* Behind bytes that are no packet, only a PSB is reliable. */
	ptc_walker_to_psb(r, r->pos > floor ? r->pos : floor, ret);
}

static size_t find_packet(const uint8_t *bytes, size_t from, size_t to,
			  bool (*is_it)(enum ptc_pkt type, enum ptc_pkt want), enum ptc_pkt want)
{
	enum ptc_pkt got;
	int n;

	while (from < to) {
		n = ptc_pkt_len(bytes + from, to - from, &got);
		if (n <= 0)
			return to;
		if (is_it(got, want))
			return from;
		from += (size_t)n;
	}
	return to;
}

static bool is_same(enum ptc_pkt type, enum ptc_pkt want)
{
	return type == want;
}

static bool is_event(enum ptc_pkt type, enum ptc_pkt unused)
{
	(void)unused;
	return ptc_pkt_is_event(type);
}

size_t ptc_find_packet(const uint8_t *bytes, size_t from, size_t to, enum ptc_pkt type)
{
	return find_packet(bytes, from, to, is_same, type);
}

size_t ptc_find_event(const uint8_t *bytes, size_t from, size_t to)
{
	return find_packet(bytes, from, to, is_event, PTC_PKT_COUNT);
}

size_t ptc_find_rest(const uint8_t *bytes, size_t from, bool sure, size_t len)
{
	enum ptc_pkt type;
	size_t at;
	int n = 1;

	/* from the last PSB on, if @bytes has a PSB */
	for (at = len; at - from >= PTC_PSB_LEN; at--) {
		if (!memcmp(bytes + at - PTC_PSB_LEN, ptc_psb, PTC_PSB_LEN)) {
			from = at;
			sure = true;
			break;
		}
	}
	if (!sure)
		return len;
	while (from < len && n > 0) {
		n = ptc_pkt_len(bytes + from, len - from, &type);
		if (n > 0)
			from += (size_t)n;
	}
	return n ? len : from; /* bytes that are no packet were already reported */
}

size_t ptc_span_find(const struct ptc_span *sp, size_t from, size_t to, enum ptc_pkt type)
{
	const uint8_t *bytes;
	uint8_t *copy = NULL;
	size_t at, n;

	if (from >= to)
		return to;
	n = to - from;
	if (sp->bytes) {
		bytes = sp->bytes + from;
	} else {
		copy = malloc(n);
		if (!copy)
			return to;
		ptc_span_read(sp, from, copy, n);
		bytes = copy;
	}
	at = type == PTC_PKT_COUNT ? ptc_find_event(bytes, 0, n) :
				     ptc_find_packet(bytes, 0, n, type);
	free(copy);
	return from + at;
}
