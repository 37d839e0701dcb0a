/* SPDX-License-Identifier: MIT */
/*
 * Intel PT packets as bytes: packet length, and search for the next PSB. This suffices to cut a
 * stream at a packet boundary without a decoder. Source: SDM vol. 3C, 33.4.2 (packet definitions).
 */
#ifndef PTC_ARCH_PT_PACKET_H
#define PTC_ARCH_PT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_PSB_LEN = 16, PTC_PSBEND_LEN = 2 };

enum ptc_pkt {
	PTC_PKT_PAD,
	PTC_PKT_PSB,
	PTC_PKT_PSBEND,
	PTC_PKT_TNT,
	PTC_PKT_TNT64,
	PTC_PKT_TIP,
	PTC_PKT_TIP_PGE,
	PTC_PKT_TIP_PGD,
	PTC_PKT_FUP,
	PTC_PKT_MODE,
	PTC_PKT_TSC,
	PTC_PKT_TMA,
	PTC_PKT_MTC,
	PTC_PKT_CYC,
	PTC_PKT_CBR,
	PTC_PKT_PIP,
	PTC_PKT_VMCS,
	PTC_PKT_OVF,
	PTC_PKT_STOP,
	PTC_PKT_PTW,
	PTC_PKT_OTHER, /* MNT, EXSTOP, MWAIT, PWRE, PWRX, BBP, BIP, BEP, CFE, EVD, TRIG */
	PTC_PKT_COUNT
};

/*
 * Determine the packet at @p, with at most @len bytes available. Returns its length, 0 if more
 * bytes are needed, or -1 if the bytes are no valid packet. A BBP counts as one packet with its
 * BIPs, and with timing packets between them. A BIP without BBP is not a packet.
 */
int ptc_pkt_len(const uint8_t *p, size_t len, enum ptc_pkt *ret_type);

enum { PTC_TNT64_LEN = 8 };

/* Return whether a long TNT packet is at @p. @len may be less than a packet. */
static inline bool ptc_pkt_is_tnt64(const uint8_t *p, size_t len)
{
	return len >= PTC_TNT64_LEN && p[0] == 0x02 && p[1] == 0xa3;
}

/* Return whether @byte is a short TNT packet. 0x02 begins packets with a two-byte header. */
static inline bool ptc_pkt_is_tnt(uint8_t byte)
{
	return !(byte & 1) && byte > 2;
}

/*
 * Returns the number of branches in a TNT packet: the bits below the highest 1. -1: an invalid
 * packet without a stop bit.
 */
static inline int ptc_pkt_tnt_bits(const uint8_t *p)
{
	uint64_t v = 0;
	int i;

	if (p[0] != 0x02)
		return 30 - __builtin_clz(p[0]);
	for (i = PTC_TNT64_LEN - 1; i > 1; i--)
		v = v << 8 | p[i];
	return v ? 63 - __builtin_clzll(v) : -1;
}

/*
 * Returns the length of a packet with an IP (TIP, TIP.PGE, TIP.PGD, FUP) that begins with @byte. 0:
 * reserved encoding.
 */
static inline size_t ptc_pkt_ip_len(uint8_t byte)
{
	static const uint8_t len[8] = { 1, 3, 5, 7, 7, 0, 9, 0 }; /* by IPBytes */

	return len[byte >> 5];
}

/* First byte of a TIP packet without an IP. */
enum { PTC_PKT_TIP_NONE = 0x0d };

static inline bool ptc_pkt_is_tip(uint8_t byte)
{
	return (byte & 0x1f) == 0x0d;
}

static inline bool ptc_pkt_is_fup(uint8_t byte)
{
	return (byte & 0x1f) == 0x1d;
}

static inline bool ptc_pkt_is_timing(enum ptc_pkt type)
{
	return type == PTC_PKT_TSC || type == PTC_PKT_TMA || type == PTC_PKT_MTC ||
	       type == PTC_PKT_CYC || type == PTC_PKT_CBR || type == PTC_PKT_PAD;
}

/*
 * libipt rejects longer CYC packets, because it counts their last bits as overflow of the number.
 */
enum { PTC_CYC_PLAIN_LEN = 9 };

/*
 * Return whether libipt 2.0 does not know the packet at @p of @n bytes: CFE, EVD, BBP with its
 * BIPs, BEP, TRIG; long CYC.
 */
static inline bool ptc_pkt_is_foreign(const uint8_t *p, enum ptc_pkt type, size_t n)
{
	if (type == PTC_PKT_CYC)
		return n > PTC_CYC_PLAIN_LEN;
	return type == PTC_PKT_OTHER && (p[0] != 0x02 || p[1] == 0x13 || p[1] == 0x53 ||
					 p[1] == 0x63 || (p[1] & 0x7f) == 0x33);
}

/* Return whether a FUP follows the PTC_PKT_OTHER packet at @p: MWAIT, EXSTOP, BEP, CFE. */
static inline bool ptc_pkt_has_fup(const uint8_t *p)
{
	return p[0] == 0x02 &&
	       (p[1] == 0xc2 || p[1] == 0xe2 || p[1] == 0xb3 || (p[1] == 0x13 && p[2] & 0x80));
}

/* Return whether the packet is neither timing nor part of a normal branch (TNT, TIP). */
static inline bool ptc_pkt_is_event(enum ptc_pkt type)
{
	return !ptc_pkt_is_timing(type) && type != PTC_PKT_TNT && type != PTC_PKT_TNT64 &&
	       type != PTC_PKT_TIP;
}

/*
 * Return whether the FUP after the packet at @p only gives its location: PTWRITE, EXSTOP, BEP,
 * MODE.TSX.
 */
static inline bool ptc_pkt_waits_for_fup(const uint8_t *p, enum ptc_pkt type)
{
	if (type == PTC_PKT_MODE)
		return p[1] >> 5 == 1;
	if (type == PTC_PKT_PTW)
		return p[1] & 0x80;
	return type == PTC_PKT_OTHER && p[0] == 0x02 && (p[1] == 0xe2 || p[1] == 0xb3);
}

/*
 * Returns the offset of the first PSB at or after @from; @len if there is none. If PSBs overlap,
 * the last of them counts.
 */
size_t ptc_pkt_next_psb(const uint8_t *p, size_t len, size_t from);

/*
 * Decode the IP payload of TIP, TIP.PGE, TIP.PGD, FUP: SDM 33.4.2.2 "IP compression". @last: the
 * last IP before this packet. Returns false if the IP is suppressed; *ret_ip is then @last.
 */
bool ptc_pkt_ip(const uint8_t *p, uint64_t last, uint64_t *ret_ip);

const char *ptc_pkt_name(enum ptc_pkt type);

#endif
