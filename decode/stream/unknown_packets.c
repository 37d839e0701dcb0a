/* SPDX-License-Identifier: MIT */
#include "decode/stream/unknown_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * The second byte of packets, behind 0x02. The third byte of a CFE: its type, and whether a FUP
 * follows.
 */
enum {
	EXSTOP_IP = 0xe2,
	BBP = 0x63,
	BEP = 0x33,
	BEP_IP = 0xb3,
	CFE = 0x13,
	EVD = 0x53,
	CFE_TYPE = 0x1f,
	CFE_IP = 0x80,
	EVD_TYPE = 0x3f,
	BBP_TYPE = 0x1f,
};

/* Types of CFE that are instructions: the TIP behind the FUP belongs to the instruction. */
enum { IRET = 2, RSM = 4, VMENTRY = 7, UIRET = 13 };

static bool is_instruction(uint8_t type)
{
	return type == IRET || type == RSM || type == VMENTRY || type == UIRET;
}

/* May the packet come between a FUP and its TIP? */
static bool is_between(const uint8_t *p, enum ptc_pkt type)
{
	return ptc_pkt_is_timing(type) || type == PTC_PKT_PIP || type == PTC_PKT_VMCS ||
	       (type == PTC_PKT_MODE && !(p[1] >> 5)) ||
	       (type == PTC_PKT_OTHER && !ptc_pkt_has_fup(p));
}

/*
 * Find the next packet at or behind *@at that does not come between two others. Sets *@at to its
 * end. Returns false if the bytes end.
 */
static bool skip_to(const uint8_t *p, size_t len, size_t *at, enum ptc_pkt *type)
{
	size_t k = *at;
	int n;

	for (;; k += (size_t)n) {
		n = k < len ? ptc_pkt_len(p + k, len - k, type) : 0;
		if (n < 0)
			*type = PTC_PKT_COUNT;
		if (n <= 0)
			return n < 0;
		if (!is_between(p + k, *type))
			break;
	}
	*at = k + (size_t)n;
	return true;
}

enum ptc_mask_fup ptc_mask_fup(const uint8_t *p, size_t n, size_t len)
{
	enum ptc_pkt type;
	size_t at = n;

	if (p[0] != 0x02 || !ptc_pkt_has_fup(p))
		return PTC_MASK_NO_FUP;
	if (p[1] != CFE || is_instruction(p[2] & CFE_TYPE))
		return PTC_MASK_FUP;
	if (!skip_to(p, len, &at, &type))
		return PTC_MASK_UNDECIDED;
	if (type != PTC_PKT_FUP)
		return PTC_MASK_FUP;
	if (!skip_to(p, len, &at, &type))
		return PTC_MASK_UNDECIDED;
	return type == PTC_PKT_TIP || type == PTC_PKT_TIP_PGD ? PTC_MASK_FUP_TIP : PTC_MASK_FUP;
}

static enum ptc_event_kind cfe_kind(uint8_t type)
{
	static const enum ptc_event_kind kinds[CFE_TYPE + 1] = {
		[1] = PTC_EVENT_INTR,	       [IRET] = PTC_EVENT_IRET, [3] = PTC_EVENT_SMI,
		[RSM] = PTC_EVENT_RSM,	       [5] = PTC_EVENT_SIPI,	[6] = PTC_EVENT_INIT,
		[VMENTRY] = PTC_EVENT_VMENTRY, [8] = PTC_EVENT_VMEXIT,	[9] = PTC_EVENT_VMEXIT_INTR,
		[10] = PTC_EVENT_SHUTDOWN,     [12] = PTC_EVENT_UINTR,	[UIRET] = PTC_EVENT_UIRET,
	};

	return kinds[type] ? kinds[type] : PTC_EVENT_CFE;
}

static enum ptc_event_kind evd_kind(uint8_t type)
{
	static const enum ptc_event_kind kinds[] = { PTC_EVENT_PFA, PTC_EVENT_VMXQ,
						     PTC_EVENT_VMXR };

	return type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : PTC_EVENT_EVD;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

enum ptc_event_kind ptc_mask_event(const uint8_t *p, enum ptc_pkt type, uint64_t *ret_value)
{
	*ret_value = 0;
	if (type != PTC_PKT_OTHER)
		return PTC_EVENT_NONE;
	if (p[0] != 0x02) {
		*ret_value = (uint64_t)p[1] | (uint64_t)p[2] << 8;
		return PTC_EVENT_TRIG;
	}
	switch (p[1]) {
	case CFE:
		*ret_value = p[3] | (uint64_t)(p[2] & CFE_TYPE) << 8;
		return cfe_kind(p[2] & CFE_TYPE);
	case EVD:
		*ret_value = get64(p + 3);
		return evd_kind(p[2] & EVD_TYPE);
	case BBP:
		*ret_value = p[2] & BBP_TYPE;
		return PTC_EVENT_BBP;
	case BEP:
	case BEP_IP:
		return PTC_EVENT_BEP;
	default:
		return PTC_EVENT_NONE;
	}
}

void ptc_mask_release(struct ptc_mask *m)
{
	free(m->v);
	m->v = NULL;
	m->first = m->n = m->cap = 0;
}

void ptc_mask_restart(struct ptc_mask *m, size_t at)
{
	m->pos = at;
	m->synced = false;
	m->first = m->n = 0;
}

const struct ptc_masked *ptc_mask_next(const struct ptc_mask *m, size_t upto)
{
	return m->first < m->n && m->v[m->first].off < upto ? &m->v[m->first] : NULL;
}

void ptc_mask_take(struct ptc_mask *m)
{
	m->first++;
	if (m->first == m->n)
		m->first = m->n = 0;
}

/* Record a packet. If out of memory, it is not reported. */
static void append_masked_packet(struct ptc_mask *m, const struct ptc_masked *k)
{
	if (m->listed && k->kind != PTC_EVENT_NONE &&
	    ptc_grow(&m->v, &m->cap, m->n + 1, sizeof(*m->v)))
		m->v[m->n++] = *k;
}

/* Mask the packet at @p, of @n bytes, which libipt does not know. Returns false if undecided. */
static bool put_mask(struct ptc_mask *m, uint8_t *p, enum ptc_pkt type, size_t n, size_t len,
		     bool ends)
{
	struct ptc_masked k = { .off = m->pos };

	k.fup = ptc_mask_fup(p, n, len);
	if (k.fup == PTC_MASK_UNDECIDED && !ends)
		return false;
	k.kind = ptc_mask_event(p, type, &k.value);
	append_masked_packet(m, &k);
	memset(p, 0, n);
	if (k.fup == PTC_MASK_FUP || k.fup == PTC_MASK_UNDECIDED) {
		p[0] = 0x02;
		p[1] = EXSTOP_IP;
	}
	return true;
}

/* Mask a BBP and its BIPs. Packets between them stay. */
static void mask_block(uint8_t *p, size_t n)
{
	const size_t bip = p[2] & 0x80 ? 5 : 9;
	enum ptc_pkt type;
	size_t at = 3;

	memset(p, 0, at);
	while (at < n) {
		if ((p[at] & 7) == 4) {
			memset(p + at, 0, bip);
			at += bip;
			continue;
		}
		at += (size_t)ptc_pkt_len(p + at, n - at, &type);
	}
}

void ptc_mask_run(struct ptc_mask *m, uint8_t *bytes, size_t from, size_t upto, bool ends)
{
	enum ptc_pkt type;
	struct ptc_masked k = { .fup = PTC_MASK_NO_FUP };
	size_t psb;
	int n;

	while (m->pos < upto) {
		if (!m->synced) {
			if (m->pos < from)
				m->pos = from;
			psb = ptc_pkt_next_psb(bytes, upto, m->pos);
			m->synced = psb < upto;
			/* A PSB may begin in front of the end. */
			if (!m->synced && upto - m->pos >= PTC_PSB_LEN)
				m->pos = upto - (PTC_PSB_LEN - 1);
			if (!m->synced)
				return;
			m->pos = psb;
		}
		n = ptc_pkt_len(bytes + m->pos, upto - m->pos, &type);
		if (!n)
			return;
		if (n < 0) {
			m->synced = false;
			m->pos++;
			continue;
		}
		if (ptc_pkt_is_foreign(bytes + m->pos, type, (size_t)n)) {
			if (bytes[m->pos] == 0x02 && bytes[m->pos + 1] == BBP) {
				k.off = m->pos;
				k.kind = ptc_mask_event(bytes + m->pos, type, &k.value);
				append_masked_packet(m, &k);
				mask_block(bytes + m->pos, (size_t)n);
			} else if (!put_mask(m, bytes + m->pos, type, (size_t)n, upto - m->pos,
					     ends)) {
				return;
			}
		}
		m->pos += (size_t)n;
	}
}
