/* SPDX-License-Identifier: MIT */
#include "capture/rings/first_psb.h"

#include <stdbool.h>

#include "arch/pt_packet.h"
#include "base/cursor.h"

enum { TSC_BYTES = 7 };

static uint64_t whole_tsc(const uint8_t *packet, uint64_t now)
{
	const uint64_t span = UINT64_C(1) << (8 * TSC_BYTES);
	uint64_t tsc = 0;
	int i;

	for (i = TSC_BYTES; i > 0; i--)
		tsc = tsc << 8 | packet[i];
	tsc |= now & ~(span - 1);
	return tsc > now && tsc >= span ? tsc - span : tsc;
}

/* Finds the TSC packet of the PSB+ at @bytes. Returns false if there is none. */
static bool find_tsc(const uint8_t *bytes, size_t len, uint64_t now, uint64_t *ret)
{
	enum ptc_pkt type = PTC_PKT_PAD;
	size_t at = 0;

	while (at < len && type != PTC_PKT_PSBEND) {
		const int n = ptc_pkt_len(bytes + at, len - at, &type);

		if (n <= 0)
			return false;
		if (type == PTC_PKT_TSC) {
			*ret = whole_tsc(bytes + at, now);
			return true;
		}
		at += (size_t)n;
	}
	return false;
}

struct ptc_begin ptc_begin_find(const uint8_t *bytes, size_t len, const struct ptc_time_conv *conv,
				uint64_t now, uint64_t since)
{
	struct ptc_begin b = { 0, 0 };

	for (b.at = ptc_pkt_next_psb(bytes, len, 0); b.at < len;
	     b.at = ptc_pkt_next_psb(bytes, len, b.at + 1)) {
		uint64_t tsc;
		const bool has = find_tsc(bytes + b.at, len - b.at, now, &tsc);

		b.time = has ? ptc_tsc_to_ns(conv, tsc) : 0;
		if (!since || (has && b.time >= since))
			return b;
	}
	b.time = 0;
	return b;
}
