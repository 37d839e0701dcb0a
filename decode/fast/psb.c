/* SPDX-License-Identifier: MIT */
#include "decode/fast/psb.h"

enum ptc_mode ptc_fast_mode_of(uint8_t bits)
{
	return bits & 1 ? PTC_MODE_64 : bits & 2 ? PTC_MODE_32 : PTC_MODE_16;
}

/* One packet of a PSB+, at @p. */
static bool take(const uint8_t *p, enum ptc_pkt type, struct ptc_fast_psb *psb)
{
	switch (type) {
	case PTC_PKT_FUP:
		if (psb->has_ip)
			return false;
		psb->has_ip = ptc_pkt_ip(p, psb->last_ip, &psb->ip);
		psb->last_ip = psb->ip;
		return psb->has_ip;
	case PTC_PKT_MODE:
		if (!(p[1] >> 5)) {
			psb->has_mode = true;
			psb->mode = ptc_fast_mode_of(p[1]);
		}
		return p[1] >> 5 < 2;
	case PTC_PKT_PIP:
	case PTC_PKT_VMCS:
		return true;
	default:
		return ptc_fast_is_timing(type);
	}
}

bool ptc_fast_psb_read(const uint8_t *bytes, size_t len, size_t at, struct ptc_fast_psb *ret)
{
	struct ptc_fast_psb psb = { .mode = PTC_MODE_64 };
	enum ptc_pkt type;
	int n;

	for (at += PTC_PSB_LEN;; at += (size_t)n) {
		n = at < len ? ptc_pkt_len(bytes + at, len - at, &type) : 0;
		if (n <= 0)
			return false;
		if (type == PTC_PKT_PSBEND)
			break;
		if (!take(bytes + at, type, &psb))
			return false;
	}
	psb.end = at + (size_t)n;
	*ret = psb;
	return true;
}
