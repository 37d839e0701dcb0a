/* SPDX-License-Identifier: MIT */
/*
 * What libipt takes of the trace, told from the trace's own bytes. It takes a TNT or TIP packet
 * when the flow needs it, and then reads on over all that says nothing of the flow: where another
 * such packet comes next, nothing. Where something else does, it has to be asked how far it got.
 */
#ifndef PTC_DECODE_FEED_H
#define PTC_DECODE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/pt_packet.h"

enum {
	PTC_FEED_MARGIN = 16, /* no TNT or TIP packet is longer */
	PTC_FEED_CALLS = 64,  /* that the processor remembers (SDM, "RET Compression") */
};

struct ptc_feed {
	const uint8_t *next;  /* the packet behind those that were taken */
	const uint8_t *limit; /* a packet here, or behind, is not looked at */
	uint64_t word; /* a TNT packet that was taken: bits of its own, the last one lowest */
	int bits;      /* of those are left; -1: ask */
	int hold;      /* of those that may not be taken without a look at what is behind them */
	int calls;     /* that a return may go back to, at least */
	bool late;     /* something else is between: it may be told of with the last bit */
	bool fup;      /* one was read, maybe: a TIP may be of that event, told of as late */
};

static inline bool ptc_feed_has_tnt(const struct ptc_feed *f)
{
	return f->next < f->limit &&
	       (ptc_pkt_is_tnt(f->next[0]) ||
		(ptc_pkt_is_tnt64(f->next, PTC_FEED_MARGIN) && ptc_pkt_tnt_bits(f->next) > 0));
}

static inline bool ptc_feed_has_tip(const struct ptc_feed *f)
{
	return f->next < f->limit && ptc_pkt_is_tip(f->next[0]) && ptc_pkt_ip_len(f->next[0]) &&
	       f->next[0] != PTC_PKT_TIP_NONE;
}

static inline bool ptc_feed_has_plain(const struct ptc_feed *f)
{
	return ptc_feed_has_tnt(f) || (ptc_feed_has_tip(f) && !f->fup);
}

static inline size_t ptc_feed_tnt_len(const struct ptc_feed *f)
{
	return f->next[0] == 0x02 ? PTC_TNT64_LEN : 1;
}

/* The bits of the TNT packet at @tnt, the last one lowest; what is above them is no bit. */
static inline uint64_t ptc_feed_word(const uint8_t *tnt)
{
	uint64_t v;

	if (tnt[0] != 0x02)
		return tnt[0] >> 1;
	memcpy(&v, tnt, sizeof(v));
	return v >> 16;
}

/* Is it known what happens until the flow needs something that is not there? */
static inline bool ptc_feed_is_known(const struct ptc_feed *f)
{
	return f->bits >= 0;
}

static inline void ptc_feed_ask(struct ptc_feed *f)
{
	f->bits = -1;
}

/* @bits are left of f->word, and then @next comes. */
static inline void ptc_feed_go_on(struct ptc_feed *f, const uint8_t *next, int bits)
{
	f->next = next;
	f->bits = bits;
	f->hold = f->late || !ptc_feed_has_plain(f);
	if (next >= f->limit || bits < f->hold)
		ptc_feed_ask(f);
}

/* The flow took the packet of @len bytes that comes next, and left @bits. */
static inline void ptc_feed_advance(struct ptc_feed *f, size_t len, int bits)
{
	f->next += len;
	f->bits = bits;
	f->hold = 0;
	if (f->late || !ptc_feed_has_plain(f))
		ptc_feed_ask(f);
}

/* Of a feed that is known: the flow needed an address. */
static inline void ptc_feed_take_ip(struct ptc_feed *f)
{
	if (!f->bits && ptc_feed_has_tip(f))
		ptc_feed_advance(f, ptc_pkt_ip_len(f->next[0]), 0);
	else
		ptc_feed_ask(f);
}

/* The flow took the TNT packet that comes next, and a bit of it, which is returned. */
static inline int ptc_feed_take_tnt(struct ptc_feed *f)
{
	const int bits = ptc_pkt_tnt_bits(f->next) - 1;

	f->word = ptc_feed_word(f->next);
	ptc_feed_advance(f, ptc_feed_tnt_len(f), bits);
	return f->word >> bits & 1;
}

/* Is there a bit that may just be taken? */
static inline bool ptc_feed_has_bit(const struct ptc_feed *f)
{
	return f->bits > f->hold;
}

/* The flow needed a bit, and there is one. */
static inline int ptc_feed_pop_bit(struct ptc_feed *f)
{
	return f->word >> --f->bits & 1;
}

/* Of a feed that is known: the flow needed a bit. Returns it; -1: not known. */
static inline int ptc_feed_take_bit(struct ptc_feed *f)
{
	if (ptc_feed_has_bit(f))
		return ptc_feed_pop_bit(f);
	if (f->bits) {
		ptc_feed_go_on(f, f->next, 0);
		return f->word & 1;
	}
	if (ptc_feed_has_tnt(f))
		return ptc_feed_take_tnt(f);
	ptc_feed_ask(f);
	return -1;
}

/* The flow made a call. */
static inline void ptc_feed_push(struct ptc_feed *f)
{
	f->calls += f->calls < PTC_FEED_CALLS;
}

/*
 * Of a feed that is known: the flow needed a bit or an address for a return. Where the trace is
 * damaged the bit may not be set, or there is no call that it went back from; then libipt does what
 * it may.
 */
static inline void ptc_feed_take_return(struct ptc_feed *f)
{
	if (!f->bits && !ptc_feed_has_tnt(f)) {
		ptc_feed_take_ip(f);
	} else if (!f->calls) {
		ptc_feed_ask(f);
	} else {
		f->calls--;
		if (ptc_feed_take_bit(f) != 1)
			ptc_feed_ask(f);
	}
}

#endif
