/* SPDX-License-Identifier: MIT */
#include "change.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "ptcap/file.h"

/* Offsets in the header of a perf.data, and the bit of the feature AUXTRACE. */
enum {
	HEADER_DATA_OFF = 40,
	HEADER_DATA_SIZE = 48,
	HEADER_FEATURES = 72,
	FEATURES = 256,
	FEATURE_AUXTRACE = 18,
	REC_AUXTRACE_LEN = 48,
	AUXTRACE_SIZE = 8,
	AUXTRACE_OFFSET = 16,
};

struct dice {
	uint64_t state;
};

/* splitmix64. */
static uint64_t roll(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Returns a number below @n; 0 if @n is 0. */
static size_t below(struct dice *d, size_t n)
{
	return n ? (size_t)(roll(d) % n) : 0;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

const char *change_name(enum change_kind kind)
{
	static const char *const names[CHANGE_COUNT] = {
		"bits", "bytes", "time",  "no PSB",  "no PSB+", "packet", "closed",
		"hole", "tail",	 "twice", "overlap", "side",	"aux",	  "file",
	};

	return names[kind];
}

void change_release(struct change *c)
{
	free(c->bytes);
	c->bytes = NULL;
}

/* Replaces bytes [at, at + gone) of the data section by @n others and updates the offsets. */
static uint8_t *splice(const uint8_t *bytes, size_t len, size_t at, size_t gone,
		       const uint8_t *with, size_t n, size_t *ret_len)
{
	const uint64_t moved = n - gone;
	uint8_t *ret = must(malloc(len + n + 1)), *table;
	size_t i;

	memcpy(ret, bytes, at);
	memcpy(ret + at, with, n);
	memcpy(ret + at + n, bytes + at + gone, len - at - gone);
	put64(ret + HEADER_DATA_SIZE, get64(ret + HEADER_DATA_SIZE) + moved);
	table = ret + get64(ret + HEADER_DATA_OFF) + get64(ret + HEADER_DATA_SIZE);
	for (i = 0; i < FEATURES; i++) {
		if (!(ret[HEADER_FEATURES + i / 8] & 1u << i % 8))
			continue;
		put64(table, get64(table) + moved);
		table += 16;
	}
	*ret_len = len + n - gone;
	return ret;
}

void change_drop_index(struct base *b)
{
	uint8_t *const features = b->bytes + HEADER_FEATURES;
	uint8_t *const table =
		b->bytes + get64(b->bytes + HEADER_DATA_OFF) + get64(b->bytes + HEADER_DATA_SIZE);
	size_t i, k = 0, n = 0;

	if (!(features[FEATURE_AUXTRACE / 8] & 1u << FEATURE_AUXTRACE % 8))
		return;
	for (i = 0; i < FEATURES; i++) {
		if (!(features[i / 8] & 1u << i % 8))
			continue;
		if (i < FEATURE_AUXTRACE)
			k++;
		n++;
	}
	/* The table becomes one entry shorter; nothing moves. */
	memmove(table + 16 * k, table + 16 * (k + 1), 16 * (n - k - 1));
	features[FEATURE_AUXTRACE / 8] &= (uint8_t) ~(1u << FEATURE_AUXTRACE % 8);
}

static void copy_all(const struct base *b, struct change *c)
{
	c->bytes = must(malloc(b->len + 1));
	memcpy(c->bytes, b->bytes, b->len);
	c->len = b->len;
}

/* Returns the offset of the last PSB before @at; SIZE_MAX: none. */
static size_t segment_of(const struct lane *l, size_t at)
{
	size_t k = l->npsb;

	while (k && l->psb[k - 1] > at)
		k--;
	return k ? l->psb[k - 1] : SIZE_MAX;
}

/* Returns the offset of a packet at or behind a random place; SIZE_MAX: none. */
static size_t find_packet(const struct lane *l, size_t at, bool (*want)(enum ptc_pkt),
			  size_t *ret_len)
{
	const size_t psb = segment_of(l, at);
	enum ptc_pkt type;
	size_t p = psb;
	int n = 1;

	for (; psb != SIZE_MAX && p < l->len && n > 0; p += (size_t)n) {
		n = ptc_pkt_len(l->bytes + p, l->len - p, &type);
		if (n > 0 && p >= at && type != PTC_PKT_PAD && want(type)) {
			*ret_len = (size_t)n;
			return p;
		}
	}
	return SIZE_MAX;
}

static bool is_any(enum ptc_pkt type)
{
	return type != PTC_PKT_PSB;
}

static bool is_time(enum ptc_pkt type)
{
	return type == PTC_PKT_TSC || type == PTC_PKT_TMA || type == PTC_PKT_MTC ||
	       type == PTC_PKT_CYC || type == PTC_PKT_CBR;
}

/* Returns the bits of a time packet that carry the time, not its length. */
static uint8_t time_bits(const uint8_t *p, size_t i)
{
	enum ptc_pkt type;

	(void)ptc_pkt_len(p, 16, &type);
	switch (type) {
	case PTC_PKT_TSC:
	case PTC_PKT_MTC:
		return i ? 0xff : 0;
	case PTC_PKT_CBR:
		return i == 2 ? 0xff : 0;
	case PTC_PKT_TMA:
		return i == 2 || i == 3 || i == 5 ? 0xff : i == 6 ? 1 : 0;
	case PTC_PKT_CYC:
		return i ? 0xfe : 0xf8;
	default:
		return 0;
	}
}

static void set_place(struct change *c, size_t from, size_t upto)
{
	c->placed = true;
	c->from = from;
	c->upto = upto;
}

/*
 * Returns the end of the trace without padding. The last packet may end in zeros, too (a long TNT).
 */
static size_t trace_end(const struct lane *l)
{
	size_t zeros = l->len, end, p;
	enum ptc_pkt type;
	int n;

	while (zeros && !l->bytes[zeros - 1])
		zeros--;
	end = zeros;
	for (p = l->npsb ? l->psb[l->npsb - 1] : zeros; p < zeros; p += (size_t)n) {
		n = ptc_pkt_len(l->bytes + p, l->len - p, &type);
		if (n <= 0)
			return zeros;
		end = p + (size_t)n;
	}
	return end > zeros ? end : zeros;
}

static bool change_bits(const struct lane *l, struct dice *d, uint8_t *t, struct change *c)
{
	const size_t n = 1 + below(d, 4) / 3 * below(d, 4), end = trace_end(l);
	const size_t first = below(d, end);
	size_t i, at;

	set_place(c, first, first + 1);
	for (i = 0; i < n; i++) {
		at = i ? first + below(d, 16) : first;
		if (at >= end)
			continue;
		t[at] ^= (uint8_t)(1u << below(d, 8));
		if (at >= c->upto)
			c->upto = at + 1;
	}
	return true;
}

static bool change_bytes(const struct lane *l, struct dice *d, uint8_t *t, struct change *c)
{
	const size_t end = trace_end(l), at = below(d, end), how = below(d, 4);
	size_t n = 1 + below(d, 64), i;

	if (n > end - at)
		n = end - at;
	set_place(c, at, at + n);
	for (i = 0; i < n; i++)
		t[at + i] = how == 0 ? 0xff : how == 1 ? 0 : (uint8_t)roll(d);
	return true;
}

static bool change_time(const struct lane *l, struct dice *d, uint8_t *t, struct change *c)
{
	size_t n, i, p = find_packet(l, below(d, l->len), is_time, &n);
	uint8_t bits, bit;

	if (p == SIZE_MAX)
		return false;
	do {
		i = below(d, n);
		bits = time_bits(l->bytes + p, i);
		bit = (uint8_t)(1u << below(d, 8));
	} while (!(bits & bit));
	t[p + i] ^= bit;
	set_place(c, p + i, p + i + 1);
	return true;
}

static bool change_psb(const struct base *b, const struct lane *l, struct dice *d, uint8_t *t,
		       struct change *c)
{
	size_t at, end;
	enum ptc_pkt type = PTC_PKT_PSB;
	int n;

	if (!l->npsb)
		return false;
	at = l->psb[below(d, l->npsb)];
	for (end = at; end < l->len && type != PTC_PKT_PSBEND; end += (size_t)n) {
		n = ptc_pkt_len(l->bytes + end, l->len - end, &type);
		if (n <= 0 || type == PTC_PKT_OVF)
			break;
	}
	if (c->kind == CHANGE_NO_PSB) {
		/* In a gap the decoder did not resume at this PSB. */
		c->told = type == PTC_PKT_PSBEND && !lane_is_lost(b, l, at);
		end = at + PTC_PSB_LEN;
	}
	memset(t + at, 0, end - at);
	set_place(c, at, end);
	c->structural = true;
	return true;
}

static bool change_packet(const struct lane *l, struct dice *d, uint8_t *t, struct change *c)
{
	size_t n, p = find_packet(l, below(d, l->len), is_any, &n);

	if (p == SIZE_MAX)
		return false;
	memset(t + p, 0, n);
	set_place(c, p, p + n);
	return true;
}

static bool change_trace(const struct base *b, struct dice *d, struct change *c)
{
	const struct lane *l = &b->lanes[c->lane];
	uint8_t *t;
	bool ok;

	if (!trace_end(l))
		return false;
	copy_all(b, c);
	t = must(malloc(l->len + 1));
	memcpy(t, l->bytes, l->len);
	switch (c->kind) {
	case CHANGE_BITS:
		ok = change_bits(l, d, t, c);
		break;
	case CHANGE_BYTES:
		ok = change_bytes(l, d, t, c);
		break;
	case CHANGE_TIME:
		ok = change_time(l, d, t, c);
		break;
	case CHANGE_PACKET:
		ok = change_packet(l, d, t, c);
		break;
	default:
		ok = change_psb(b, l, d, t, c);
	}
	if (ok)
		lane_store(b, l, t, c->bytes);
	free(t);
	return ok;
}

/*
 * Makes an AUXTRACE record like that of @p, for @n bytes of its trace at @at, with the offset @off.
 */
static size_t put_piece(const struct base *b, const struct piece *p, size_t at, size_t n,
			uint64_t off, uint8_t *ret)
{
	const size_t padded = (n + 7) / 8 * 8;

	memcpy(ret, b->bytes + p->file_off - REC_AUXTRACE_LEN, REC_AUXTRACE_LEN);
	put64(ret + AUXTRACE_SIZE, padded);
	put64(ret + AUXTRACE_OFFSET, off);
	memcpy(ret + REC_AUXTRACE_LEN, b->bytes + p->file_off + at, n);
	memset(ret + REC_AUXTRACE_LEN + n, 0, padded - n);
	return REC_AUXTRACE_LEN + padded;
}

static size_t add_piece(const struct base *b, const struct piece *p, size_t at, size_t n,
			uint64_t off, uint8_t *ret)
{
	return n ? put_piece(b, p, at, n, off, ret) : 0;
}

/* Splits chunk @p into [0, one) and [two, size). The second gets the offset @two_off. */
static void split(const struct base *b, struct change *c, const struct piece *p, size_t one,
		  size_t two, uint64_t two_off)
{
	uint8_t *with = must(malloc(2 * p->size + 256));
	size_t n = add_piece(b, p, 0, one, p->aux_off, with);

	n += add_piece(b, p, two, (size_t)p->size - two, two_off, with + n);
	c->bytes = splice(b->bytes, b->len, (size_t)p->file_off - REC_AUXTRACE_LEN,
			  (size_t)p->size + REC_AUXTRACE_LEN, with, n, &c->len);
	free(with);
}

/* With snapshots, the length of the trace is unknown. */
static bool has_snapshots(const struct base *b)
{
	size_t i;

	for (i = 0; i < b->want.ngaps; i++)
		if (b->want.gaps[i].cause == PTC_GAP_SNAPSHOT)
			return true;
	return false;
}

/*
 * Only for a lane with its whole trace in the last chunk: otherwise other chunks would have to
 * move.
 */
static bool change_piece(const struct base *b, struct dice *d, struct change *c)
{
	const struct lane *l = &b->lanes[c->lane];
	const struct piece *p = &l->pieces[l->npieces - 1];
	const size_t end = trace_end(l), skip = p->at;
	size_t at, n;

	if (b->raw || end <= skip + 16 || (size_t)p->size < end - skip)
		return false;
	at = 1 + below(d, end - skip - 1);
	n = 8 * (1 + below(d, 32));
	if (n > end - skip - at)
		n = end - skip - at;
	c->structural = !has_snapshots(b);
	switch (c->kind) {
	case CHANGE_HOLE:
		split(b, c, p, at, at + n, p->aux_off + at + n);
		set_place(c, skip + at, skip + at + n);
		break;
	case CHANGE_CLOSED: {
		uint8_t *with = must(malloc(p->size + 256));
		uint8_t *payload = with + REC_AUXTRACE_LEN;
		const size_t left = end - skip - n, padded = (left + 7) / 8 * 8;

		(void)put_piece(b, p, 0, end - skip, p->aux_off, with);
		memmove(payload + at, payload + at + n, end - skip - at - n);
		memset(payload + left, 0, padded - left);
		put64(with + AUXTRACE_SIZE, padded);
		c->bytes = splice(b->bytes, b->len, (size_t)p->file_off - REC_AUXTRACE_LEN,
				  (size_t)p->size + REC_AUXTRACE_LEN, with,
				  REC_AUXTRACE_LEN + padded, &c->len);
		free(with);
		set_place(c, skip + at, skip + at + n);
		break;
	}
	case CHANGE_TAIL:
		at = at / 8 * 8;
		if (!at)
			return false; /* an empty queue would not be noticed at all */
		split(b, c, p, at, (size_t)p->size, 0);
		set_place(c, skip + at, l->len);
		break;
	case CHANGE_TWICE:
		/* Padding would look like the end of the chunk. */
		at = (at + 7) / 8 * 8;
		if (at >= end - skip)
			return false;
		n = n > at ? at : n;
		split(b, c, p, at, at - n, p->aux_off + at - n);
		set_place(c, skip + at, skip + at);
		c->structural = false;
		break;
	default:
		at = (at + 7) / 8 * 8;
		if (at >= end - skip || at <= n)
			return false;
		split(b, c, p, at, at, p->aux_off + at - n);
		set_place(c, skip + at - n, skip + at);
		break;
	}
	/* Less than a word at the very end may have been padding. */
	if (c->kind != CHANGE_OVERLAP && c->upto >= end && end - c->from < 8)
		c->structural = false;
	(void)snprintf(c->what, sizeof(c->what), "%zu bytes at 0x%zx of piece %zu", n, at,
		       l->npieces - 1);
	return true;
}

static bool is_ours(enum change_kind kind, uint32_t type)
{
	if (kind == CHANGE_FILE)
		return true;
	return kind == CHANGE_AUX ? type == PERF_RECORD_AUX :
				    type != PERF_RECORD_AUX && type < PTC_REC_USER_START;
}

/* Returns the time of the record at @off; 0: no time, or no such record. */
static uint64_t time_at(const uint8_t *bytes, size_t len, uint64_t off)
{
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_sb sb;
	uint64_t pos = 0, time = 0;

	if (ptc_file_open_bytes(bytes, len, "side", &f, &err) < 0)
		return 0;
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.off == off &&
		    ptc_sb_parse(&rec, ptc_file_trailer_type(f, &rec), &sb, &err) > 0 &&
		    sb.id.has & PERF_SAMPLE_TIME)
			time = sb.id.time;
	ptc_file_free(f);
	return time;
}

static bool change_record(const struct base *b, struct dice *d, struct change *c)
{
	struct ptc_file *f;
	struct ptc_rec rec, got = { .off = 0 };
	struct ptc_err err;
	uint64_t pos = 0, before, after;
	size_t n = 0, at;

	if (ptc_file_open_bytes(b->bytes, b->len, b->name, &f, &err) < 0)
		return false;
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (is_ours(c->kind, rec.type) && !below(d, ++n))
			got = rec;
	ptc_file_free(f);
	if (!n || !ptc_cur_left(&got.body))
		return false;
	copy_all(b, c);
	at = (size_t)got.off + PTC_REC_HEADER_SIZE + below(d, ptc_cur_left(&got.body));
	if (c->kind == CHANGE_FILE && below(d, 2)) /* the header of the file, or of the record */
		at = below(d, 2) ? below(d, 400) : (size_t)got.off + below(d, 8);
	if (at >= c->len)
		return false;
	c->bytes[at] ^= (uint8_t)(1u << below(d, 8));
	(void)snprintf(c->what, sizeof(c->what),
		       "byte 0x%zx of the file, record of type %u at 0x%" PRIx64, at, got.type,
		       got.off);
	if (c->kind == CHANGE_SIDE) {
		before = time_at(b->bytes, b->len, got.off);
		after = time_at(c->bytes, c->len, got.off);
		c->until = before < after ? before : after;
	}
	return true;
}

bool change_make(const struct base *b, uint64_t seed, struct change *ret)
{
	/* Frequencies in 32nds. */
	static const uint8_t kinds[32] = {
		CHANGE_BITS,   CHANGE_BITS,   CHANGE_BITS,    CHANGE_BITS,    CHANGE_BITS,
		CHANGE_BITS,   CHANGE_BITS,   CHANGE_BITS,    CHANGE_BITS,    CHANGE_BITS,
		CHANGE_BYTES,  CHANGE_BYTES,  CHANGE_BYTES,   CHANGE_TIME,    CHANGE_TIME,
		CHANGE_TIME,   CHANGE_NO_PSB, CHANGE_NO_PSB,  CHANGE_NO_PSBS, CHANGE_PACKET,
		CHANGE_PACKET, CHANGE_CLOSED, CHANGE_CLOSED,  CHANGE_HOLE,    CHANGE_HOLE,
		CHANGE_TAIL,   CHANGE_TWICE,  CHANGE_OVERLAP, CHANGE_OVERLAP, CHANGE_SIDE,
		CHANGE_AUX,    CHANGE_FILE,
	};
	struct dice d = { seed };
	bool ok;

	*ret = (struct change){ .kind = kinds[below(&d, 32)], .lane = below(&d, b->nlanes) };
	if (ret->kind >= CHANGE_SIDE)
		ok = !b->raw && change_record(b, &d, ret);
	else if (ret->kind >= CHANGE_CLOSED)
		ok = change_piece(b, &d, ret);
	else
		ok = change_trace(b, &d, ret);
	if (!ok)
		change_release(ret);
	return ok;
}
