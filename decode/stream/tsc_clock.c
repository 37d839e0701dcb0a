/* SPDX-License-Identifier: MIT */
#include "decode/stream/tsc_clock.h"

#include "ptcap/decode.h"

static const uint64_t WRAP = 1ull << 56;

uint64_t ptc_tsc_extend(uint64_t tsc, uint64_t reference)
{
	const uint64_t low = tsc & (WRAP - 1);
	const uint64_t full = (reference & ~(WRAP - 1)) | low;

	if (!reference)
		return tsc;
	if (full > reference && full - reference > WRAP / 2 && full >= WRAP)
		return full - WRAP;
	if (full < reference && reference - full > WRAP / 2)
		return full + WRAP;
	return full;
}

uint64_t ptc_tsc_clock_ns(const struct ptc_tsc_clock *c, uint64_t tsc, uint64_t reference)
{
	if (!c->valid)
		return PTC_NO_TIME;
	return ptc_tsc_to_ns(&c->conv, ptc_tsc_extend(tsc, reference));
}
