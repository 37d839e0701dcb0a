/* SPDX-License-Identifier: MIT */
#include "decode/engine/tnt_loop.h"

#include <string.h>

#include "base/grow.h"
#include "decode/engine/psb_plus.h"

#define INSIDE inline __attribute__((always_inline))

/*
 * So many bytes can be read at any packet that is handled here, so no packet needs a check of its
 * length. The packets at the very end are not handled here.
 */
enum { NEAR_END = 16 };

/* Waiting bits, at most: the bits of one more packet still fit. */
enum { MAX_WAITING = 64 - 47 };

/* Counts per kind: even and odd kinds, side by side. */
typedef uint16_t counts __attribute__((vector_size(sizeof(ptc_fast_kinds))));

/*
 * Instructions that may have been counted in front of a packet. Each one is at most one branch.
 * Until the next check, one address may follow, and the bits that wait and those of a packet. Each
 * bit may have a chain of its own.
 */
enum { COUNTED_MAX = UINT16_MAX - 2 * 64 * PTC_FAST_CHAIN_RECS - PTC_FAST_MAX_RECS - 1 };

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the even ones are the low halves");

/*
 * The part of the engine that changes from step to step, or that each step reads, where the
 * compiler can keep it in registers. No other function sees it. Before a call the engine is saved,
 * and afterwards it is loaded again.
 */
struct hot {
	bool counting;			  /* a constant: each value has its own code */
	counts even, odd;		  /* if counting: numbers of each kind */
	struct ptc_fast_rec *out, *limit; /* else the next record; no step may begin behind limit */
	uint64_t bits, insns, last_ip;
	unsigned int nbits, newest, sp;
	uint32_t at, last; /* last: NONE while the last block is still flow.last */
	bool listed, shared;
	uint32_t *stack;

	const struct ptc_fast_chain_table *chains;
	const struct ptc_fast_rec *recs;
	const uint32_t *pushes;
	struct ptc_fast_block *blocks;
	uint32_t *tips;
};

/* Records of one step, rounded up: four are copied at a time. */
enum { STEP_RECS = PTC_FAST_CHAIN_RECS + 4 };

static bool reserve_step_recs(struct ptc_fast_flow *f)
{
	return ptc_grow(&f->recs, &f->recs_cap, f->nrecs + STEP_RECS, sizeof(*f->recs));
}

/* Must not write to counting: it would no longer be a constant. */
static INSIDE void load(struct ptc_fast *f, struct hot *h)
{
	const struct ptc_fast_code *c = f->flow.code;

	h->even = h->odd = (counts){ 0 };
	h->out = f->flow.recs + f->flow.nrecs;
	h->limit = f->flow.recs + f->flow.recs_cap - STEP_RECS;
	h->bits = f->bits;
	h->insns = 0;
	h->last_ip = f->last_ip;
	h->nbits = f->nbits;
	h->newest = f->newest;
	h->sp = f->flow.sp;
	h->at = f->flow.at;
	h->last = PTC_FAST_NONE;
	h->listed = false;
	h->stack = f->flow.stack;
	h->chains = ptc_fast_chains_table(f->chains);
	h->recs = c->recs;
	h->pushes = c->pushes;
	h->blocks = c->blocks;
	h->tips = f->flow.hand->tips;
	h->shared = c->shared;
}

/* Listed branches are final: they come before counted branches. */
static __attribute__((noinline)) void save_counts(struct ptc_fast_flow *f, counts even, counts odd)
{
	size_t i, n;

	ptc_fast_flow_count(f);
	for (i = 0; i < PTC_KIND_COUNT; i++) {
		n = i % 2 ? odd[i / 2] : even[i / 2];
		f->kinds[i] += n;
		f->ncounted += n;
	}
}

/*
 * The last counted branch may turn out to be none, or another one, so it is listed. Its target does
 * not matter to a caller that counts.
 */
static INSIDE void list_last(struct ptc_fast_flow *f, const struct hot *h)
{
	const struct ptc_fast_block *b = &h->blocks[h->last];
	const struct ptc_fast_rec rec = h->recs[b->recs + b->nrecs - (b->end == PTC_FAST_ON)];

	f->recs[f->nrecs++] = rec;
	f->kinds[ptc_fast_rec_kind(rec)]--;
	f->ncounted--;
}

static INSIDE void save(struct ptc_fast *f, const struct hot *h)
{
	if (!h->counting)
		f->flow.nrecs = (size_t)(h->out - f->flow.recs);
	else if (h->last)
		save_counts(&f->flow, h->even, h->odd);
	if (h->counting && h->listed)
		list_last(&f->flow, h);
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

static INSIDE void count_rec_kinds(struct hot *h, const struct ptc_fast_rec *recs)
{
	const counts kinds = (counts)ptc_fast_kinds_of(recs);

	h->even += kinds & 0xff;
	h->odd += kinds >> 8;
}

/*
 * Copies four records at a time, even if there are fewer. Both sides have space for the extra ones.
 */
static INSIDE void list(struct hot *h, uint32_t recs, size_t n)
{
	const struct ptc_fast_rec *from = h->recs + recs;
	size_t i = 0;

	if (h->counting) {
		count_rec_kinds(h, from);
		return;
	}
#ifdef __SANITIZE_THREAD__ /* another thread may be writing behind the records */
	for (; i < n; i++)
		h->out[i] = from[i];
#else
	do {
		memcpy(h->out + i, from + i, 4 * sizeof(*from));
		i += 4;
	} while (i < n);
#endif
	h->out += n;
}

/* The last listed branch led to @ip. */
static INSIDE void lead(struct hot *h, uint64_t ip)
{
	if (!h->counting)
		h->out[-1].to = ip;
}

static INSIDE bool has_room_for_chain(const struct hot *h)
{
	return h->counting || h->out <= h->limit;
}

static INSIDE void push_return_block(struct hot *h, uint32_t block)
{
	h->stack[h->sp++ % PTC_FAST_STACK] = block;
}

static INSIDE void push_all(struct hot *h, uint32_t pushes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		push_return_block(h, h->pushes[pushes + i]);
}

/*
 * Use the next bits, which are those of @c. It may pop an entry that was never pushed: then there
 * is no block.
 */
static INSIDE void follow_chain(struct hot *h, const struct ptc_fast_chain *c)
{
	uint32_t *top;

	list(h, c->recs, c->nrecs);
	if (c->npushes == 1)
		push_return_block(h, c->pushes);
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
	lead(h, h->blocks[h->at].ip);
}

/* Use @n bits for which no chain is known: make a chain, or go bit by bit. */
static __attribute__((noinline)) enum ptc_fast_reached use_bits_without_chain(struct ptc_fast *f,
									      unsigned int n)
{
	enum ptc_fast_reached r = PTC_FAST_THERE;
	unsigned int left = n;

	if (!ptc_fast_chain_make(f->chains, f->flow.hand, f->flow.at, f->bits, n)) {
		r = ptc_fast_flow_bits(&f->flow, &f->bits, &left);
		f->nbits -= n - left;
	}
	if (r != PTC_FAST_LOST && !reserve_step_recs(&f->flow)) {
		f->flow.why = "out of memory";
		r = PTC_FAST_LOST;
	}
	return r;
}

/*
 * Use bits until fewer than @least are left, or until an address is needed. Inlining keeps @h in
 * registers, which makes a third of the time. So only inlined functions may get the address of @h.
 */
static INSIDE enum ptc_fast_reached use_bits(struct ptc_fast *f, struct hot *h, unsigned int least)
{
	enum ptc_fast_reached r = PTC_FAST_THERE;
	const struct ptc_fast_chain *c;
	unsigned int n;

	while (h->nbits >= least && r == PTC_FAST_THERE) {
		n = h->nbits < PTC_FAST_CHAIN_BITS ? h->nbits : PTC_FAST_CHAIN_BITS;
		c = ptc_fast_chain_find(h->chains, ptc_fast_chain_key(h->at, h->bits, n));
		if (c && has_room_for_chain(h)) {
			follow_chain(h, c);
			if (h->at)
				continue;
			save(f, h);
			f->flow.why = "a return without a call";
			return PTC_FAST_LOST;
		}
		save(f, h);
		r = use_bits_without_chain(f, n);
		load(f, h);
	}
	return r;
}

static INSIDE enum ptc_fast_reached use_saved_bits_so(struct ptc_fast *f, bool counting)
{
	struct hot h = { .counting = counting };
	enum ptc_fast_reached r;

	load(f, &h);
	r = use_bits(f, &h, 1);
	if (r != PTC_FAST_LOST)
		save(f, &h);
	return r;
}

static __attribute__((noinline)) enum ptc_fast_reached use_saved_bits(struct ptc_fast *f)
{
	return f->counts ? use_saved_bits_so(f, true) : use_saved_bits_so(f, false);
}

/* Use all bits. For rare cases. */
static INSIDE enum ptc_fast_reached use_all_bits(struct ptc_fast *f, struct hot *h)
{
	enum ptc_fast_reached r;

	save(f, h);
	r = use_saved_bits(f);
	load(f, h);
	return r;
}

/* Take a TNT packet of @n bits, the lowest of @payload. */
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

	/* The highest bit, which only marks the end, shifts out. */
	if (p[0] != 0x02)
		return add_bits(f, h, p[0] >> 1, n);
	return n && n <= 47 ? add_bits(f, h, load64(p) >> 16, n) :
			      decline(f, "a TNT without an end");
}

/* Same as ptc_pkt_ip, for an address that is not suppressed. */
static INSIDE uint64_t ip_of(const uint8_t *p, uint64_t last)
{
	static const uint8_t drop[8] = { 64, 48, 32, 16, 16, 64, 0, 64 };
	const unsigned int code = p[0] >> 5;
	const uint64_t v = load64(p + 1), mask = UINT64_MAX >> drop[code];

	if (code == 3)
		return (uint64_t)((int64_t)(v << 16) >> 16);
	return (last & ~mask) | (v & mask);
}

/* @b led to @ip, where block @next is. */
static void note_tip(struct ptc_fast_code *c, struct ptc_fast_block *b, uint64_t ip, uint32_t next)
{
	ptc_fast_code_lock(c);
	if (!c->shared || !b->tip_next) {
		b->tip = ip;
		ptc_fast_publish(&b->tip_next, next);
	}
	ptc_fast_code_unlock(c);
}

/* Take an address for the next block. Slow path. */
static __attribute__((noinline)) enum ptc_fast_status tip_slowly(struct ptc_fast *f, uint64_t ip)
{
	const bool same_mode = f->mode == f->flow.mode;
	struct ptc_fast_block *b;

	if (ptc_fast_flow_tip(&f->flow, ip, f->mode) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	b = &f->flow.code->blocks[f->flow.last.block];
	if (same_mode) {
		if (!f->flow.code->shared || !ptc_fast_see(&b->tip_next))
			note_tip(f->flow.code, b, ip, f->flow.at);
		*ptc_fast_tip(f->flow.hand->tips, ip) = f->flow.at;
	}
	return reserve_step_recs(&f->flow) ? PTC_FAST_GO_ON : decline(f, "out of memory");
}

/*
 * Returns the block at @ip, to which @b leads now. @next: the block to which it led before. NONE:
 * unknown here. Shared data does not change, except hints.
 */
static INSIDE uint32_t lead_to(const struct hot *h, struct ptc_fast_block *b, uint32_t next,
			       uint64_t ip)
{
	const uint8_t strays = ptc_fast_get_hint(&b->strays);
	const uint32_t was = next;

	if (strays < PTC_FAST_STRAYS) {
		if (b->tip == ip)
			return next;
		ptc_fast_put_hint(&b->strays, (uint8_t)(strays + 1));
	}
	next = *ptc_fast_tip(h->tips, ip);
	if (h->blocks[next].ip != ip || h->blocks[next].mode != b->mode || !next)
		return b->tip == ip ? was : PTC_FAST_NONE;
	if (!h->shared) {
		b->tip = ip;
		b->tip_next = next;
	}
	return next;
}

/* Take the TIP at @p. Bits that are left come behind it. They must be of the newest packet. */
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
	/* An address alone is enough only where the mode stays the same. */
	next = f->mode == f->flow.mode ? ptc_fast_see(&b->tip_next) : PTC_FAST_NONE;
	if (next)
		next = lead_to(h, b, next, ip);
	if (next && has_room_for_chain(h)) {
		list(h, b->recs, b->nrecs + 1u);
		lead(h, ip);
		push_all(h, b->pushes, b->npushes);
		h->insns += b->ninsns;
		h->last = h->at;
		h->listed = true;
		h->at = next;
		return PTC_FAST_GO_ON;
	}
	save(f, h);
	r = tip_slowly(f, ip);
	load(f, h);
	return r;
}

/*
 * Returns the length of the packet at @p, if it only gives the time and needs no other check; else
 * 0. @timed: the time is wanted.
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

/* Take the packet at @p. *@ret_n is its length; 0: it is not handled here. */
static INSIDE enum ptc_fast_status take_common_packet(struct ptc_fast *f, struct hot *h,
						      const uint8_t *p, size_t *ret_n)
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

static INSIDE enum ptc_fast_status hurry(struct ptc_fast *f, bool counting)
{
	const uint8_t *p = f->bytes + f->pos, *const end = f->bytes + f->len;
	struct hot h = { .counting = counting };
	enum ptc_fast_status r = PTC_FAST_GO_ON;
	size_t n = 1;

	load(f, &h);
	while (end - p >= NEAR_END) {
		r = take_common_packet(f, &h, p, &n);
		if (r != PTC_FAST_GO_ON || !n)
			break;
		p += n;
		if (counting && h.insns > COUNTED_MAX) {
			save(f, &h);
			load(f, &h);
		}
		if (h.nbits >= PTC_FAST_CHAIN_BITS &&
		    use_bits(f, &h, PTC_FAST_CHAIN_BITS) == PTC_FAST_LOST)
			return PTC_FAST_DECLINED;
	}
	f->pos = (size_t)(p - f->bytes);
	/* Use all bits before other code sees the packet at pos. */
	if (r == PTC_FAST_GO_ON && h.nbits && use_all_bits(f, &h) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	if (r == PTC_FAST_GO_ON && h.nbits > h.newest)
		return decline(f, "a TNT for an address");
	if (r == PTC_FAST_GO_ON)
		save(f, &h);
	return r;
}

static __attribute__((noinline)) enum ptc_fast_status hurry_listing(struct ptc_fast *f)
{
	return hurry(f, false);
}

static __attribute__((noinline)) enum ptc_fast_status hurry_counting(struct ptc_fast *f)
{
	return hurry(f, true);
}

enum ptc_fast_status ptc_fast_hurry(struct ptc_fast *f)
{
	if (!ptc_fast_flow_is_on(&f->flow))
		return PTC_FAST_GO_ON;
	if (!reserve_step_recs(&f->flow))
		return decline(f, "out of memory");
	ptc_fast_chains_set_counts(f->chains, f->counts);
	return f->counts ? hurry_counting(f) : hurry_listing(f);
}
