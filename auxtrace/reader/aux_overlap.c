/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/aux_overlap.h"

#include <string.h>

#include "arch/pt_packet.h"

enum { SURE = 64 };

size_t ptc_without_padding(const uint8_t *bytes, size_t len)
{
	size_t n = len;

	while (n && len - n < PTC_PADDING_MAX && !bytes[n - 1])
		n--;
	return n;
}

/* Return whether the PSB+ at @p has a TSC packet within @len bytes. */
static bool has_tsc(const uint8_t *p, size_t len)
{
	enum ptc_pkt type;
	int n;

	while (len) {
		n = ptc_pkt_len(p, len, &type);
		if (n <= 0 || type == PTC_PKT_PSBEND)
			return false;
		if (type == PTC_PKT_TSC)
			return true;
		p += n;
		len -= (size_t)n;
	}
	return false;
}

/*
 * Returns the length of the longest suffix of @a, at most @n bytes, that is a prefix of @b. A
 * rolling hash of both finds candidates. The longest candidate is then compared.
 */
static size_t common(const uint8_t *a_end, const uint8_t *b, size_t n)
{
	static const uint64_t base = 0x9e3779b97f4a7c15ull;
	uint64_t ha = 0, hb = 0, power = 1;
	size_t k, best = 0;

	for (k = 1; k <= n; k++) {
		ha += (a_end[-(ptrdiff_t)k] + 1ull) * power;
		hb = hb * base + b[k - 1] + 1ull;
		power *= base;
		if (ha == hb)
			best = k;
	}
	return best && !memcmp(a_end - best, b, best) ? best : 0;
}

bool ptc_overlap(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len, size_t *ret_a,
		 size_t *ret_b)
{
	const size_t end = ptc_without_padding(a, a_len);
	const size_t psb = ptc_pkt_next_psb(b, b_len, 0);
	size_t n;

	n = common(a + end, b + psb, end < b_len - psb ? end : b_len - psb);
	if (n < PTC_PSB_LEN || (n < SURE && !has_tsc(b + psb, n)))
		return false;
	*ret_a = end;
	*ret_b = psb + n;
	return true;
}
