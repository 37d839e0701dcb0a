/* SPDX-License-Identifier: MIT */
#include "decode/fast/hot.h"

#include <string.h>

#include "decode/grow.h"

/*
 * So many bytes may be read at any packet that is looked at here, so that none needs a look at its
 * length; those at the very end are not for here.
 */
enum { NEAR_END = 16 };

/* Bits that may be waiting; with those of one more packet they fit. */
enum { MAX_WAITING = 64 - 47 };

/* What of the engine changes from step to step, where the compiler can keep it in registers. */
struct hot {
	struct ptc_fast_rec *out; /* the next one */
	uint64_t bits, insns;
	unsigned int nbits, sp;
	uint32_t at, last; /* last: NONE if it is still the flow's */
	bool listed;
};

static inline struct hot load(const struct ptc_fast *f)
{
	return (struct hot){ .out = f->flow.recs + f->flow.nrecs,
			     .bits = f->bits,
			     .nbits = f->nbits,
			     .sp = f->flow.sp,
			     .at = f->flow.at };
}

static inline void save(struct ptc_fast *f, const struct hot *h)
{
	f->flow.nrecs = (size_t)(h->out - f->flow.recs);
	f->bits = h->bits;
	f->nbits = h->nbits;
	f->flow.sp = h->sp;
	f->flow.at = h->at;
	f->flow.insns += h->insns;
	if (h->last)
		f->flow.last = (struct ptc_fast_last){ .how = PTC_FAST_LAST_BLOCK,
						       .block = h->last,
						       .listed = h->listed };
}

/* Room for what one step lists. */
static bool reserve(struct ptc_fast_flow *f)
{
	return ptc_grow(&f->recs, &f->recs_cap, f->nrecs + PTC_FAST_CHAIN_RECS + 2,
			sizeof(*f->recs));
}

static inline bool has_room(const struct ptc_fast_flow *f, const struct hot *h)
{
	return (size_t)(h->out - f->recs) + PTC_FAST_CHAIN_RECS + 2 <= f->recs_cap;
}

static inline void push(struct ptc_fast_flow *f, struct hot *h, const uint32_t *blocks, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		f->stack[h->sp++ % PTC_FAST_STACK] = blocks[i];
}

/* The next bits are those of @c. False: it pops what nobody pushed. */
static inline bool follow(struct ptc_fast_flow *f, struct hot *h, const struct ptc_fast_chain *c)
{
	uint32_t *top;

	memcpy(h->out, f->code->recs + c->recs, c->nrecs * sizeof(*h->out));
	h->out += c->nrecs;
	push(f, h, c->npushes == 1 ? &c->pushes : f->code->pushes + c->pushes, c->npushes);
	h->insns += c->ninsns;
	h->bits <<= c->nbits;
	h->nbits -= c->nbits;
	h->last = c->last;
	h->listed = c->listed;
	h->at = c->end;
	if (h->at)
		return true;
	top = &f->stack[--h->sp % PTC_FAST_STACK];
	h->at = *top;
	*top = PTC_FAST_NONE;
	h->out[-1].to = f->code->blocks[h->at].ip;
	return h->at;
}

/* @n bits that no chain is known of, one by one; next time there may be one. */
static enum ptc_fast_reached step(struct ptc_fast *f, unsigned int n)
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

/* Use bits until fewer than @least are left, or an address is needed. */
static enum ptc_fast_reached use_bits(struct ptc_fast *f, unsigned int least)
{
	enum ptc_fast_reached r = PTC_FAST_THERE;
	const struct ptc_fast_chain *c;
	struct hot h = load(f);
	unsigned int n;

	while (h.nbits >= least && r == PTC_FAST_THERE) {
		n = h.nbits < PTC_FAST_CHAIN_BITS ? h.nbits : PTC_FAST_CHAIN_BITS;
		c = ptc_fast_chain_find(f->chains, ptc_fast_chain_key(h.at, h.bits, n));
		if (c && has_room(&f->flow, &h)) {
			if (follow(&f->flow, &h, c))
				continue;
			f->flow.why = "a return without a call";
			return PTC_FAST_LOST;
		}
		save(f, &h);
		r = step(f, n);
		h = load(f);
	}
	save(f, &h);
	return r;
}

static enum ptc_fast_status decline(struct ptc_fast *f, const char *why)
{
	f->flow.why = why;
	return PTC_FAST_DECLINED;
}

/* The packet at @p is a TNT of @n bits. */
static enum ptc_fast_status add_bits(struct ptc_fast *f, uint64_t payload, unsigned int n)
{
	if (f->nbits > MAX_WAITING && use_bits(f, 1) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (f->nbits > MAX_WAITING)
		return decline(f, "a TNT for an address");
	f->bits |= payload << (64 - n) >> f->nbits;
	f->nbits += n;
	f->newest = n;
	if (f->nbits >= PTC_FAST_CHAIN_BITS && use_bits(f, PTC_FAST_CHAIN_BITS) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	return PTC_FAST_GO_ON;
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline enum ptc_fast_status add_tnt(struct ptc_fast *f, const uint8_t *p)
{
	const unsigned int n = (unsigned int)ptc_pkt_tnt_bits(p);

	/* The bits are below the end bit, which shifts out. */
	if (p[0] != 0x02)
		return add_bits(f, p[0] >> 1, n);
	return n && n <= 47 ? add_bits(f, load64(p) >> 16, n) :
			      decline(f, "a TNT without an end");
}

/* What the flow needs next is an address, and here it is. */
static enum ptc_fast_status take_tip(struct ptc_fast *f, uint64_t ip)
{
	struct ptc_fast_flow *flow = &f->flow;
	struct ptc_fast_block *b = &flow->code->blocks[flow->at];

	if ((b->end == PTC_FAST_RET || b->end == PTC_FAST_JUMP) && b->tip_next && b->tip == ip &&
	    f->mode == flow->mode) {
		const struct ptc_fast_rec *recs = flow->code->recs + b->recs;
		struct hot h = load(f);

		memcpy(h.out, recs, (b->nrecs + 1u) * sizeof(*recs));
		h.out += b->nrecs + 1;
		h.out[-1].to = ip;
		push(flow, &h, flow->code->pushes + b->pushes, b->npushes);
		h.insns = b->ninsns;
		h.last = h.at;
		h.listed = true;
		h.at = b->tip_next;
		save(f, &h);
	} else {
		if (ptc_fast_flow_tip(flow, ip, f->mode) == PTC_FAST_LOST)
			return PTC_FAST_DECLINED;
		b = &flow->code->blocks[flow->last.block];
		b->tip = ip;
		b->tip_next = flow->at;
	}
	return has_room(flow, &(struct hot){ .out = flow->recs + flow->nrecs }) || reserve(flow) ?
		       PTC_FAST_GO_ON :
		       decline(f, "out of memory");
}

/* The TIP at @p. Bits that are left are behind it, if they are not of a packet before the newest. */
static enum ptc_fast_status add_tip(struct ptc_fast *f, const uint8_t *p)
{
	uint64_t ip;

	if (f->nbits && use_bits(f, 1) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (f->nbits > f->newest)
		return decline(f, "a TNT for an address");
	if (!ptc_pkt_ip(p, f->last_ip, &ip))
		return decline(f, "a TIP without an address");
	f->last_ip = ip;
	return take_tip(f, ip);
}

/* How long the packet at @p is, if it says nothing but the time; 0: it is another one. */
static inline size_t timing_len(const uint8_t *p)
{
	size_t n = 1;

	switch (p[0]) {
	case 0x00: /* PAD */
		return 1;
	case 0x59: /* MTC */
		return 2;
	case 0x19: /* TSC */
		return 8;
	default:
		break;
	}
	if ((p[0] & 3) != 3)
		return 0;
	if (p[0] & 4) /* CYC, of several bytes */
		while (n < NEAR_END && p[n++] & 1)
			;
	return n < NEAR_END ? n : 0;
}

/* All bits are to be used, before somebody else sees what is at pos. */
static enum ptc_fast_status use_all(struct ptc_fast *f)
{
	if (f->nbits && use_bits(f, 1) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (f->nbits > f->newest)
		return decline(f, "a TNT for an address");
	return PTC_FAST_GO_ON;
}

enum ptc_fast_status ptc_fast_hurry(struct ptc_fast *f)
{
	const uint8_t *p = f->bytes + f->pos, *const end = f->bytes + f->len;
	enum ptc_fast_status r = PTC_FAST_GO_ON;

	if (!ptc_fast_flow_is_on(&f->flow) || !reserve(&f->flow))
		return r;
	while (r == PTC_FAST_GO_ON && end - p >= NEAR_END) {
		size_t n;

		if (ptc_pkt_is_tnt(p[0])) {
			r = add_tnt(f, p);
			n = 1;
		} else if (ptc_pkt_is_tip(p[0]) && ptc_pkt_ip_len(p[0]) > 1) {
			r = add_tip(f, p);
			n = ptc_pkt_ip_len(p[0]);
		} else if (ptc_pkt_is_tnt64(p, NEAR_END)) {
			r = add_tnt(f, p);
			n = PTC_TNT64_LEN;
		} else {
			n = timing_len(p);
			if (!n)
				break;
		}
		p += n;
	}
	f->pos = (size_t)(p - f->bytes);
	return r == PTC_FAST_GO_ON ? use_all(f) : r;
}
