/* SPDX-License-Identifier: MIT */
/*
 * Follows what libipt takes from the trace, by the trace's own bytes. libipt takes a TNT or TIP
 * packet when the flow needs it. Then it reads on over packets that say nothing about the flow. If
 * another TNT or TIP packet comes next, it reads nothing. If another packet comes next, libipt must
 * be asked how far it got.
 */
#ifndef PTC_DECODE_LIBIPT_PACKET_CURSOR_H
#define PTC_DECODE_LIBIPT_PACKET_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/pt_packet.h"

enum {
	PTC_PACKET_CURSOR_MARGIN = 16, /* no TNT or TIP packet is longer */
	PTC_PACKET_CURSOR_CALLS =
		64, /* calls that the processor remembers (SDM, "RET Compression") */
};

struct ptc_packet_cursor {
	const uint8_t *next;  /* the packet behind the taken ones */
	const uint8_t *limit; /* packets here, or behind, are not looked at */
	uint64_t word;	      /* the bits of the TNT packet taken last, the last bit lowest */
	int bits;	      /* bits of word that are left; -1: ask libipt */
	int hold;	      /* bits that may not be used without a look at what follows */
	int calls;	      /* calls that a return may go back to, at least */
	bool late; /* another packet comes between: libipt may report it with the last bit */
	bool fup;  /* a FUP may have been read: a TIP may belong to its event, reported late */
};

static inline bool ptc_packet_cursor_has_tnt(const struct ptc_packet_cursor *f)
{
	return f->next < f->limit && (ptc_pkt_is_tnt(f->next[0]) ||
				      (ptc_pkt_is_tnt64(f->next, PTC_PACKET_CURSOR_MARGIN) &&
				       ptc_pkt_tnt_bits(f->next) > 0));
}

static inline bool ptc_packet_cursor_has_tip(const struct ptc_packet_cursor *f)
{
	return f->next < f->limit && ptc_pkt_is_tip(f->next[0]) && ptc_pkt_ip_len(f->next[0]) &&
	       f->next[0] != PTC_PKT_TIP_NONE;
}

static inline bool ptc_packet_cursor_has_plain(const struct ptc_packet_cursor *f)
{
	return ptc_packet_cursor_has_tnt(f) || (ptc_packet_cursor_has_tip(f) && !f->fup);
}

static inline size_t ptc_packet_cursor_tnt_len(const struct ptc_packet_cursor *f)
{
	return f->next[0] == 0x02 ? PTC_TNT64_LEN : 1;
}

/*
 * Returns the bits of the TNT packet at @tnt, the last one lowest. Bits above them have no meaning.
 */
static inline uint64_t ptc_packet_cursor_word(const uint8_t *tnt)
{
	uint64_t v;

	if (tnt[0] != 0x02)
		return tnt[0] >> 1;
	memcpy(&v, tnt, sizeof(v));
	return v >> 16;
}

/* Does the cursor know what libipt does until the flow needs a missing packet? */
static inline bool ptc_packet_cursor_is_known(const struct ptc_packet_cursor *f)
{
	return f->bits >= 0;
}

static inline void ptc_packet_cursor_ask(struct ptc_packet_cursor *f)
{
	f->bits = -1;
}

/* @bits of f->word are left. Then @next comes. */
static inline void ptc_packet_cursor_go_on(struct ptc_packet_cursor *f, const uint8_t *next,
					   int bits)
{
	f->next = next;
	f->bits = bits;
	f->hold = f->late || !ptc_packet_cursor_has_plain(f);
	if (next >= f->limit || bits < f->hold)
		ptc_packet_cursor_ask(f);
}

/* The flow took the next packet, of @len bytes. @bits of it are left. */
static inline void ptc_packet_cursor_advance(struct ptc_packet_cursor *f, size_t len, int bits)
{
	f->next += len;
	f->bits = bits;
	f->hold = 0;
	if (f->late || !ptc_packet_cursor_has_plain(f))
		ptc_packet_cursor_ask(f);
}

/* The flow needed an address. The cursor must be known. */
static inline void ptc_packet_cursor_take_ip(struct ptc_packet_cursor *f)
{
	if (!f->bits && ptc_packet_cursor_has_tip(f))
		ptc_packet_cursor_advance(f, ptc_pkt_ip_len(f->next[0]), 0);
	else
		ptc_packet_cursor_ask(f);
}

/* The flow took the next TNT packet, and one bit of it. Returns this bit. */
static inline int ptc_packet_cursor_take_tnt(struct ptc_packet_cursor *f)
{
	const int bits = ptc_pkt_tnt_bits(f->next) - 1;

	f->word = ptc_packet_cursor_word(f->next);
	ptc_packet_cursor_advance(f, ptc_packet_cursor_tnt_len(f), bits);
	return f->word >> bits & 1;
}

/* Is there a bit that may be used without a look at later packets? */
static inline bool ptc_packet_cursor_has_bit(const struct ptc_packet_cursor *f)
{
	return f->bits > f->hold;
}

/* The flow needed a bit, and ptc_packet_cursor_has_bit() is true. Returns this bit. */
static inline int ptc_packet_cursor_pop_bit(struct ptc_packet_cursor *f)
{
	return f->word >> --f->bits & 1;
}

/* The flow needed a bit. Returns it, or -1 if it is unknown. The cursor must be known. */
static inline int ptc_packet_cursor_take_bit(struct ptc_packet_cursor *f)
{
	if (ptc_packet_cursor_has_bit(f))
		return ptc_packet_cursor_pop_bit(f);
	if (f->bits) {
		ptc_packet_cursor_go_on(f, f->next, 0);
		return f->word & 1;
	}
	if (ptc_packet_cursor_has_tnt(f))
		return ptc_packet_cursor_take_tnt(f);
	ptc_packet_cursor_ask(f);
	return -1;
}

/* The flow made a call. */
static inline void ptc_packet_cursor_push(struct ptc_packet_cursor *f)
{
	f->calls += f->calls < PTC_PACKET_CURSOR_CALLS;
}

/*
 * The flow needed a bit or an address for a return. The cursor must be known. In a damaged trace
 * the bit may be 0, or no call may match. Then libipt must be asked what it did.
 */
static inline void ptc_packet_cursor_take_return(struct ptc_packet_cursor *f)
{
	if (!f->bits && !ptc_packet_cursor_has_tnt(f)) {
		ptc_packet_cursor_take_ip(f);
	} else if (!f->calls) {
		ptc_packet_cursor_ask(f);
	} else {
		f->calls--;
		if (ptc_packet_cursor_take_bit(f) != 1)
			ptc_packet_cursor_ask(f);
	}
}

#endif
