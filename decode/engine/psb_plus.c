/* SPDX-License-Identifier: MIT */
#include "decode/engine/psb_plus.h"

bool ptc_fast_mode(uint8_t bits, enum ptc_mode *ret)
{
	/* CS.L and CS.D. 64-bit code does not have CS.D. */
	*ret = bits & 1 ? PTC_MODE_64 : bits & 2 ? PTC_MODE_32 : PTC_MODE_16;
	return (bits & 3) != 3;
}

bool ptc_fast_is_time(const uint8_t *p, enum ptc_pkt type, bool *tsc)
{
	bool good;

	switch (type) {
	case PTC_PKT_PAD:
	case PTC_PKT_MTC:
		return true;
	case PTC_PKT_CYC:
		return ptc_fast_cyc_len(p) > 0;
	case PTC_PKT_TSC:
		*tsc = true;
		return true;
	case PTC_PKT_TMA: /* the CTC, a zero byte, and nine bits */
		good = *tsc && !p[4] && p[6] < 2;
		*tsc = false;
		return good;
	case PTC_PKT_CBR:
		return p[2];
	case PTC_PKT_OTHER: /* libipt sees PADs there: see decode/stream/unknown_packets.h */
		return ptc_pkt_is_foreign(p, type, 0) && !ptc_pkt_has_fup(p);
	default:
		return false;
	}
}

/* Take one packet of a PSB+, at @p. */
static bool take_psb_plus_packet(const uint8_t *p, enum ptc_pkt type, bool *tsc,
				 struct ptc_fast_psb *psb)
{
	switch (type) {
	case PTC_PKT_FUP:
		if (psb->has_ip)
			return false;
		psb->has_ip = ptc_pkt_ip(p, psb->last_ip, &psb->ip);
		psb->last_ip = psb->ip;
		return psb->has_ip;
	case PTC_PKT_MODE:
		if (p[1] >> 5)
			return p[1] >> 5 == 1;
		/*
		 * Every MODE.Exec would have to give the mode of the flow, so only one is accepted.
		 */
		if (psb->has_mode)
			return false;
		psb->has_mode = true;
		return ptc_fast_mode(p[1], &psb->mode);
	case PTC_PKT_PIP:
	case PTC_PKT_VMCS:
		return true;
	default:
		return ptc_fast_is_time(p, type, tsc);
	}
}

bool ptc_fast_psb_read(const uint8_t *bytes, size_t len, size_t at, bool *tsc,
		       struct ptc_fast_psb *ret)
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
		if (!take_psb_plus_packet(bytes + at, type, tsc, &psb))
			return false;
	}
	psb.end = at + (size_t)n;
	*ret = psb;
	return true;
}
