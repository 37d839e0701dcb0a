/* SPDX-License-Identifier: MIT */
#include "decode/fast/hot.h"

#include <string.h>

#include "decode/fast/psb.h"
#include "decode/grow.h"

#define INSIDE inline __attribute__((always_inline))

/*
 * So many bytes may be read at any packet that is looked at here, so that none needs a look at its
 * length; those at the very end are not for here.
 */
enum { NEAR_END = 16 };

/* Bits that may be waiting; with those of one more packet they fit. */
enum { MAX_WAITING = 64 - 47 };

/*
 * What of the engine changes from step to step, and what is looked at, where the compiler can keep
 * it in registers. Nobody else sees it: whoever is called has the engine saved before, and loaded
 * again behind.
 */
struct hot {
	struct ptc_fast_rec *out, *limit; /* the next one; no step may begin behind this */
	uint64_t bits, insns, last_ip;
	unsigned int nbits, newest, sp;
	uint32_t at, last; /* last: NONE if it is still the flow's */
	bool listed;
	uint32_t *stack;

	const struct ptc_fast_chains *chains;
	const struct ptc_fast_rec *recs;
	const uint32_t *pushes;
	struct ptc_fast_block *blocks;
	uint32_t *tips;
};

/* What one step lists, rounded up: they are copied four at a time. */
enum { STEP_RECS = PTC_FAST_CHAIN_RECS + 4 };

static bool reserve(struct ptc_fast_flow *f)
{
	return ptc_grow(&f->recs, &f->recs_cap, f->nrecs + STEP_RECS, sizeof(*f->recs));
}

static INSIDE struct hot load(struct ptc_fast *f)
{
	const struct ptc_fast_code *c = f->flow.code;

	return (struct hot){ .out = f->flow.recs + f->flow.nrecs,
			     .limit = f->flow.recs + f->flow.recs_cap - STEP_RECS,
			     .bits = f->bits,
			     .last_ip = f->last_ip,
			     .nbits = f->nbits,
			     .newest = f->newest,
			     .sp = f->flow.sp,
			     .at = f->flow.at,
			     .stack = f->flow.stack,
			     .chains = f->chains,
			     .recs = c->recs,
			     .pushes = c->pushes,
			     .blocks = c->blocks,
			     .tips = c->tips };
}

static INSIDE void save(struct ptc_fast *f, const struct hot *h)
{
	f->flow.nrecs = (size_t)(h->out - f->flow.recs);
	f->bits = h->bits;
	f->last_ip = h->last_ip;
	f->nbits = h->nbits;
	f->newest = h->newest;
	f->flow.sp = h->sp;
	f->flow.at = h->at;
	f->flow.insns += h->insns;
	if (h->last)
		f->flow.last = (struct ptc_fast_last){ .how = PTC_FAST_LAST_BLOCK,
						       .block = h->last,
						       .listed = h->listed };
}

static enum ptc_fast_status decline(struct ptc_fast *f, const char *why)
{
	f->flow.why = why;
	return PTC_FAST_DECLINED;
}

/* Four at a time, also if there are fewer: both sides have room for those that are too many. */
static INSIDE void list(struct hot *h, uint32_t recs, size_t n)
{
	const struct ptc_fast_rec *from = h->recs + recs;
	size_t i = 0;

	do {
		memcpy(h->out + i, from + i, 4 * sizeof(*from));
		i += 4;
	} while (i < n);
	h->out += n;
}

static INSIDE void push(struct hot *h, uint32_t block)
{
	h->stack[h->sp++ % PTC_FAST_STACK] = block;
}

static INSIDE void push_all(struct hot *h, uint32_t pushes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		push(h, h->pushes[pushes + i]);
}

/* The next bits are those of @c. It may pop what nobody pushed: then there is no block. */
static INSIDE void follow(struct hot *h, const struct ptc_fast_chain *c)
{
	uint32_t *top;

	list(h, c->recs, c->nrecs);
	if (c->npushes == 1)
		push(h, c->pushes);
	else
		push_all(h, c->pushes, c->npushes);
	h->insns += c->ninsns;
	h->bits <<= c->nbits;
	h->nbits -= c->nbits;
	h->last = c->last;
	h->listed = c->listed;
	h->at = c->end;
	if (h->at)
		return;
	top = &h->stack[--h->sp % PTC_FAST_STACK];
	h->at = *top;
	*top = PTC_FAST_NONE;
	h->out[-1].to = h->blocks[h->at].ip;
}

/* @n bits that no chain is known of, one by one; next time there may be one. */
static __attribute__((noinline)) enum ptc_fast_reached step(struct ptc_fast *f, unsigned int n)
{
	enum ptc_fast_reached r;
	unsigned int left = n;

	ptc_fast_chain_make(f->chains, f->flow.code, f->flow.at, f->bits, n);
	r = ptc_fast_flow_bits(&f->flow, &f->bits, &left);
	f->nbits -= n - left;
	if (r != PTC_FAST_LOST && !reserve(&f->flow)) {
		f->flow.why = "out of memory";
		r = PTC_FAST_LOST;
	}
	return r;
}

/*
 * Use bits until fewer than @least are left, or an address is needed. Whoever has it inside keeps
 * @h in registers, which is a third of the time: nobody may be given its address but what is inside
 * too.
 */
static INSIDE enum ptc_fast_reached use_bits(struct ptc_fast *f, struct hot *h, unsigned int least)
{
	enum ptc_fast_reached r = PTC_FAST_THERE;
	const struct ptc_fast_chain *c;
	unsigned int n;

	while (h->nbits >= least && r == PTC_FAST_THERE) {
		n = h->nbits < PTC_FAST_CHAIN_BITS ? h->nbits : PTC_FAST_CHAIN_BITS;
		c = ptc_fast_chain_find(h->chains, ptc_fast_chain_key(h->at, h->bits, n));
		if (c && h->out <= h->limit) {
			follow(h, c);
			if (h->at)
				continue;
			save(f, h);
			f->flow.why = "a return without a call";
			return PTC_FAST_LOST;
		}
		save(f, h);
		r = step(f, n);
		*h = load(f);
	}
	return r;
}

static __attribute__((noinline)) enum ptc_fast_reached use_saved_bits(struct ptc_fast *f)
{
	struct hot h = load(f);
	const enum ptc_fast_reached r = use_bits(f, &h, 1);

	if (r != PTC_FAST_LOST)
		save(f, &h);
	return r;
}

/* All that there are, where that is rare. */
static INSIDE enum ptc_fast_reached use_all_bits(struct ptc_fast *f, struct hot *h)
{
	enum ptc_fast_reached r;

	save(f, h);
	r = use_saved_bits(f);
	*h = load(f);
	return r;
}

/* The packet is a TNT of @n bits, the lowest of @payload. */
static INSIDE enum ptc_fast_status add_bits(struct ptc_fast *f, struct hot *h, uint64_t payload,
					    unsigned int n)
{
	if (h->nbits > MAX_WAITING && use_all_bits(f, h) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (h->nbits > MAX_WAITING)
		return decline(f, "a TNT for an address");
	h->bits |= payload << (64 - n) >> h->nbits;
	h->nbits += n;
	h->newest = n;
	return PTC_FAST_GO_ON;
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static INSIDE enum ptc_fast_status add_tnt(struct ptc_fast *f, struct hot *h, const uint8_t *p)
{
	const unsigned int n = (unsigned int)ptc_pkt_tnt_bits(p);

	/* The highest of them, which only says where they end, shifts out. */
	if (p[0] != 0x02)
		return add_bits(f, h, p[0] >> 1, n);
	return n && n <= 47 ? add_bits(f, h, load64(p) >> 16, n) :
			      decline(f, "a TNT without an end");
}

/* As ptc_pkt_ip, of what is not suppressed. */
static INSIDE uint64_t ip_of(const uint8_t *p, uint64_t last)
{
	static const uint8_t drop[8] = { 64, 48, 32, 16, 16, 64, 0, 64 };
	const unsigned int code = p[0] >> 5;
	const uint64_t v = load64(p + 1), mask = UINT64_MAX >> drop[code];

	if (code == 3)
		return (uint64_t)((int64_t)(v << 16) >> 16);
	return (last & ~mask) | (v & mask);
}

/* An address for the block that comes next. */
static __attribute__((noinline)) enum ptc_fast_status tip_slowly(struct ptc_fast *f, uint64_t ip)
{
	const bool same_mode = f->mode == f->flow.mode;
	struct ptc_fast_block *b;

	if (ptc_fast_flow_tip(&f->flow, ip, f->mode) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	b = &f->flow.code->blocks[f->flow.last.block];
	if (same_mode) {
		b->tip = ip;
		b->tip_next = f->flow.at;
		*ptc_fast_tip(f->flow.code->tips, ip) = f->flow.at;
	}
	return reserve(&f->flow) ? PTC_FAST_GO_ON : decline(f, "out of memory");
}

/* The block at @ip, to which @b, which needed an address before, leads; NONE: not known here. */
static INSIDE uint32_t lead_to(const struct hot *h, struct ptc_fast_block *b, uint64_t ip,
			       enum ptc_mode mode)
{
	uint32_t next;

	if (b->strays < PTC_FAST_STRAYS) {
		if (b->tip == ip)
			return b->tip_next;
		b->strays++;
	}
	next = *ptc_fast_tip(h->tips, ip);
	if (h->blocks[next].ip != ip || h->blocks[next].mode != mode || !next)
		return b->tip == ip ? b->tip_next : PTC_FAST_NONE;
	b->tip = ip;
	b->tip_next = next;
	return next;
}

/* The TIP at @p. Bits that are left are behind it, if they are not of a packet before the newest.
 */
static INSIDE enum ptc_fast_status add_tip(struct ptc_fast *f, struct hot *h, const uint8_t *p)
{
	const uint64_t ip = ip_of(p, h->last_ip);
	enum ptc_fast_status r;
	struct ptc_fast_block *b;
	uint32_t next;

	if (h->nbits && use_bits(f, h, 1) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (h->nbits > h->newest)
		return decline(f, "a TNT for an address");
	h->last_ip = ip;
	b = &h->blocks[h->at];
	/* Only where the mode stays as it is an address is all there is to know. */
	next = b->tip_next && f->mode == f->flow.mode ? lead_to(h, b, ip, f->mode) : PTC_FAST_NONE;
	if (next && h->out <= h->limit) {
		list(h, b->recs, b->nrecs + 1u);
		h->out[-1].to = ip;
		push_all(h, b->pushes, b->npushes);
		h->insns += b->ninsns;
		h->last = h->at;
		h->listed = true;
		h->at = next;
		return PTC_FAST_GO_ON;
	}
	save(f, h);
	r = tip_slowly(f, ip);
	*h = load(f);
	return r;
}

/*
 * How long the packet at @p is, if it says nothing but the time, and needs no other look; else 0.
 * @timed: somebody wants to know the time.
 */
static inline size_t timing_len(const uint8_t *p, bool timed)
{
	if (!p[0]) /* PAD */
		return 1;
	if (timed)
		return 0;
	switch (p[0]) {
	case 0x59: /* MTC */
		return 2;
	default:
		return (p[0] & 3) == 3 ? ptc_fast_cyc_len(p) : 0;
	}
}

/* The packet at @p; *ret_n is its length, and 0 if it is not for here. */
static INSIDE enum ptc_fast_status take(struct ptc_fast *f, struct hot *h, const uint8_t *p,
					size_t *ret_n)
{
	if (ptc_pkt_is_tnt(p[0])) {
		*ret_n = 1;
		return add_tnt(f, h, p);
	}
	if (ptc_pkt_is_tip(p[0]) && ptc_pkt_ip_len(p[0]) > 1) {
		*ret_n = ptc_pkt_ip_len(p[0]);
		return add_tip(f, h, p);
	}
	if (ptc_pkt_is_tnt64(p, NEAR_END)) {
		*ret_n = PTC_TNT64_LEN;
		return add_tnt(f, h, p);
	}
	*ret_n = timing_len(p, f->time.on);
	return PTC_FAST_GO_ON;
}

enum ptc_fast_status ptc_fast_hurry(struct ptc_fast *f)
{
	const uint8_t *p = f->bytes + f->pos, *const end = f->bytes + f->len;
	enum ptc_fast_status r = PTC_FAST_GO_ON;
	struct hot h;
	size_t n = 1;

	if (!ptc_fast_flow_is_on(&f->flow))
		return r;
	if (!reserve(&f->flow))
		return decline(f, "out of memory");
	h = load(f);
	while (end - p >= NEAR_END) {
		r = take(f, &h, p, &n);
		if (r != PTC_FAST_GO_ON || !n)
			break;
		p += n;
		if (h.nbits >= PTC_FAST_CHAIN_BITS &&
		    use_bits(f, &h, PTC_FAST_CHAIN_BITS) == PTC_FAST_LOST)
			return PTC_FAST_DECLINED;
	}
	f->pos = (size_t)(p - f->bytes);
	/* All of them, before somebody else sees what is at pos. */
	if (r == PTC_FAST_GO_ON && h.nbits && use_all_bits(f, &h) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (r == PTC_FAST_GO_ON && h.nbits > h.newest)
		return decline(f, "a TNT for an address");
	if (r == PTC_FAST_GO_ON)
		save(f, &h);
	return r;
}
