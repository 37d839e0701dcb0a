/* SPDX-License-Identifier: MIT */
#include "arch/pt_packet.h"

#include <string.h>

static const uint8_t psb[PTC_PSB_LEN] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
					  0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* Payload bytes by IPBytes, the top three bits of the header. 0xff: reserved. */
static const uint8_t ip_bytes[8] = { 0, 2, 4, 6, 6, 0xff, 8, 0xff };

static int whole(size_t want, size_t len)
{
	return want <= len ? (int)want : 0;
}

static int cyc_len(const uint8_t *p, size_t len)
{
	size_t i;

	if (!(p[0] & 4))
		return 1;
	for (i = 1; i < len && i < 15; i++)
		if (!(p[i] & 1))
			return (int)i + 1;
	return i < 15 ? 0 : -1;
}

/*
 * Returns the length of a BIP with header @byte, in a block whose BBP has size byte @size; 0: not a
 * BIP.
 */
static size_t bip_len(uint8_t byte, uint8_t size)
{
	if ((byte & 7) != 4)
		return 0;
	return size & 0x80 ? 5 : 9;
}

/*
 * Returns the length of a BBP with its BIPs. The byte after the last BIP is examined only if
 * available.
 */
static int block_len(const uint8_t *p, size_t len)
{
	enum { MAX_BIPS = 32 };
	size_t at = 3, end = 3, bip;
	enum ptc_pkt type = PTC_PKT_PAD;
	int n, bips = 0;

	if (len < at)
		return 0;
	while (at < len && bips < MAX_BIPS) {
		bip = bip_len(p[at], p[2]);
		if (bip > len - at)
			return 0;
		at += bip;
		if (bip) {
			end = at;
			bips++;
			continue;
		}
		n = p[at] == 0x02 && len - at > 1 && p[at + 1] == 0x63 ?
			    -1 :
			    ptc_pkt_len(p + at, len - at, &type);
		if (n <= 0 || !ptc_pkt_is_timing(type) || at - end > PTC_PSB_LEN)
			break;
		at += (size_t)n;
	}
	return (int)end;
}

/* Returns the length of a packet that begins with 0x02. */
static int ext_len(const uint8_t *p, size_t len, enum ptc_pkt *type)
{
	size_t n;

	if (len < 2)
		return 0;
	*type = PTC_PKT_OTHER;
	switch (p[1]) {
	case 0x82:
		*type = PTC_PKT_PSB;
		n = len < PTC_PSB_LEN ? len : PTC_PSB_LEN;
		return memcmp(p, psb, n) ? -1 : whole(PTC_PSB_LEN, len);
	case 0x23:
		*type = PTC_PKT_PSBEND;
		return 2;
	case 0xa3:
		*type = PTC_PKT_TNT64;
		return whole(8, len);
	case 0x43:
		*type = PTC_PKT_PIP;
		return whole(8, len);
	case 0xc8:
		*type = PTC_PKT_VMCS;
		return whole(7, len);
	case 0x03:
		*type = PTC_PKT_CBR;
		return whole(4, len);
	case 0x73:
		*type = PTC_PKT_TMA;
		return whole(7, len);
	case 0xf3:
		*type = PTC_PKT_OVF;
		return 2;
	case 0x83:
		*type = PTC_PKT_STOP;
		return 2;
	case 0xc3: /* MNT: 02 c3 88 and eight bytes */
		if (len < 3)
			return 0;
		return p[2] == 0x88 ? whole(11, len) : -1;
	case 0x62:
	case 0xe2: /* EXSTOP */
		return 2;
	case 0xc2: /* MWAIT */
		return whole(10, len);
	case 0x22: /* PWRE */
		return whole(4, len);
	case 0xa2: /* PWRX */
		return whole(7, len);
	case 0x63: /* BBP */
		return block_len(p, len);
	case 0x33:
	case 0xb3: /* BEP */
		return 2;
	case 0x13: /* CFE */
		return whole(4, len);
	case 0x53: /* EVD */
		return whole(11, len);
	default:
		break;
	}
	if ((p[1] & 0x1f) == 0x12) { /* PTWRITE */
		*type = PTC_PKT_PTW;
		switch (p[1] >> 5 & 3) {
		case 0:
			return whole(6, len);
		case 1:
			return whole(10, len);
		default:
			return -1;
		}
	}
	return -1;
}

static int ip_len(const uint8_t *p, size_t len)
{
	const uint8_t n = ip_bytes[p[0] >> 5];

	return n == 0xff ? -1 : whole(1u + n, len);
}

int ptc_pkt_len(const uint8_t *p, size_t len, enum ptc_pkt *ret_type)
{
	if (!len)
		return 0;
	*ret_type = PTC_PKT_OTHER;
	if (p[0] == 0x02)
		return ext_len(p, len, ret_type);
	if (p[0] == 0x00) {
		*ret_type = PTC_PKT_PAD;
		return 1;
	}
	if (!(p[0] & 1)) { /* bit 0 clear: short TNT; its stop bit is above bit 1 */
		*ret_type = PTC_PKT_TNT;
		return 1;
	}
	if ((p[0] & 3) == 3) {
		*ret_type = PTC_PKT_CYC;
		return cyc_len(p, len);
	}
	switch (p[0] & 0x1f) {
	case 0x0d:
		*ret_type = PTC_PKT_TIP;
		return ip_len(p, len);
	case 0x11:
		*ret_type = PTC_PKT_TIP_PGE;
		return ip_len(p, len);
	case 0x01:
		*ret_type = PTC_PKT_TIP_PGD;
		return ip_len(p, len);
	case 0x1d:
		*ret_type = PTC_PKT_FUP;
		return ip_len(p, len);
	default:
		break;
	}
	switch (p[0]) {
	case 0x99:
		*ret_type = PTC_PKT_MODE;
		return whole(2, len);
	case 0x19:
		*ret_type = PTC_PKT_TSC;
		return whole(8, len);
	case 0x59:
		*ret_type = PTC_PKT_MTC;
		return whole(2, len);
	case 0xd9: /* TRIG */
		return whole(3, len);
	default:
		return -1;
	}
}

/* Return whether the word at @p can be inside a PSB. */
static bool is_of_psb(const uint8_t *p)
{
	uint64_t word, even, odd;

	memcpy(&word, p, sizeof(word));
	memcpy(&even, psb, sizeof(even));
	memcpy(&odd, psb + 1, sizeof(odd));
	return word == even || word == odd;
}

/*
 * Returns the last of overlapping PSBs. The end of the packet before a PSB can look like the PSB's
 * start.
 */
static size_t last_of_run(const uint8_t *p, size_t len, size_t at)
{
	while (len - at >= PTC_PSB_LEN + 2 && !memcmp(p + at + PTC_PSB_LEN, psb, 2))
		at += 2;
	return at;
}

enum { CHUNK = 64 };

typedef uint32_t lanes __attribute__((vector_size(16))); /* available on every x86-64 CPU */

/* Return whether the CHUNK at @p has a half word that can be inside a PSB (see is_of_psb). */
static bool may_have_psb(const uint8_t *p)
{
	lanes v[CHUNK / sizeof(lanes)], any = { 0 };
	uint64_t is[2];
	uint32_t even, odd;
	size_t i;

	memcpy(v, p, sizeof(v));
	memcpy(&even, psb, sizeof(even));
	memcpy(&odd, psb + 1, sizeof(odd));
	for (i = 0; i < CHUNK / sizeof(lanes); i++)
		any |= (lanes)(v[i] == even) | (lanes)(v[i] == odd);
	memcpy(is, &any, sizeof(is));
	return is[0] | is[1];
}

/*
 * Search in steps of one word, several words at a time. A PSB is two words long, so one of these
 * words is inside the PSB, which begins less than a word before. memmem takes several times as
 * long.
 */
size_t ptc_pkt_next_psb(const uint8_t *p, size_t len, size_t from)
{
	enum { WORD = PTC_PSB_LEN / 2 };
	const uint8_t *hit;
	size_t at, first;

	for (at = from; at < len && len - at >= WORD; at += WORD) {
		for (; len - at >= CHUNK + WORD && !may_have_psb(p + at); at += CHUNK)
			;
		if (!is_of_psb(p + at))
			continue;
		first = at - from < WORD ? from : at - (WORD - 1);
		hit = memmem(p + first, (len - at < PTC_PSB_LEN ? len : at + PTC_PSB_LEN) - first,
			     psb, PTC_PSB_LEN);
		if (hit)
			return last_of_run(p, len, (size_t)(hit - p));
	}
	return len;
}

bool ptc_pkt_ip(const uint8_t *p, uint64_t last, uint64_t *ret_ip)
{
	const uint8_t code = p[0] >> 5;
	uint64_t v = 0;
	uint8_t i;

	*ret_ip = last;
	if (!ip_bytes[code] || ip_bytes[code] == 0xff)
		return false;
	for (i = 0; i < ip_bytes[code]; i++)
		v |= (uint64_t)p[1 + i] << (8 * i);
	switch (code) {
	case 1:
		v |= last & ~0xffffull;
		break;
	case 2:
		v |= last & ~0xffffffffull;
		break;
	case 3: /* sign-extended from bit 47 */
		v = (v ^ 1ull << 47) - (1ull << 47);
		break;
	case 4:
		v |= last & ~0xffffffffffffull;
		break;
	default:
		break;
	}
	*ret_ip = v;
	return true;
}

const char *ptc_pkt_name(enum ptc_pkt type)
{
	static const char *const names[PTC_PKT_COUNT] = {
		"PAD",	   "PSB", "PSBEND", "TNT", "TNT64", "TIP", "TIP.PGE",
		"TIP.PGD", "FUP", "MODE",   "TSC", "TMA",   "MTC", "CYC",
		"CBR",	   "PIP", "VMCS",   "OVF", "STOP",  "PTW", "other",
	};

	return (unsigned int)type < PTC_PKT_COUNT ? names[type] : "?";
}
