/* SPDX-License-Identifier: MIT */
#include "decode/engine/packet_time.h"

#include <assert.h>

/* An MTC has eight bits of the counter, a TMA sixteen. */
enum { MTC_BITS = 8, TMA_BITS = 16, FREQ_MAX = 15 };

static uint64_t read_packet_le(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* Returns the number of the bit above the highest counter bit of an MTC. */
static unsigned int top_of(const struct ptc_fast_time *t)
{
	assert(t->clock.mtc_freq <= FREQ_MAX); /* ptc_pt_info_parse */
	return (unsigned int)t->clock.mtc_freq + MTC_BITS;
}

static void take_tsc(struct ptc_fast_time *t, const uint8_t *p)
{
	t->tsc = t->base = read_packet_le(p + 1, 7);
	t->ctc = 0;
	t->known = true;
	t->counts = false;
}

/* The counter had this value, so many ticks before the TSC. */
static void take_tma(struct ptc_fast_time *t, const uint8_t *p)
{
	t->ctc = (uint32_t)read_packet_le(p + 2, 2) & ((1u << top_of(t)) - 1);
	t->base -= read_packet_le(p + 5, 2);
	t->counts = true;
	t->partly = top_of(t) > TMA_BITS;
}

/* Returns the counter with the bits that the TMA lacks, from @ctc of the first MTC behind it. */
static uint32_t fill_up(const struct ptc_fast_time *t, uint32_t ctc)
{
	const uint32_t low = (1u << TMA_BITS) - 1, all = (uint32_t)UINT8_MAX << t->clock.mtc_freq;
	uint32_t high = ctc & ~low;

	if ((ctc & low) < t->ctc)
		high = (high - low - 1) & all;
	return t->ctc | high;
}

/* Returns false if the counter went back without wrapping around. */
static bool take_mtc(struct ptc_fast_time *t, const uint8_t *p)
{
	const uint32_t ctc = (uint32_t)p[1] << t->clock.mtc_freq;
	const uint32_t last = t->partly ? fill_up(t, ctc) : t->ctc;
	const uint32_t round = ctc < last ? 1u << top_of(t) : 0;

	/* libipt ignores MTCs between a TSC and its TMA. */
	if (!t->counts)
		return true;
	t->ctc = ctc;
	t->partly = false;
	if (ctc + round < last)
		return false;
	if (!t->clock.ctc_ticks || !t->clock.ctc_unit)
		return true;
	t->base += (uint64_t)(ctc + round - last) * t->clock.ctc_ticks / t->clock.ctc_unit;
	t->tsc = t->base;
	return true;
}

bool ptc_fast_time_take(struct ptc_fast_time *t, const uint8_t *p, enum ptc_pkt type)
{
	switch (type) {
	case PTC_PKT_TSC:
		take_tsc(t, p);
		return true;
	case PTC_PKT_TMA:
		if (!t->known || t->counts)
			return false;
		take_tma(t, p);
		return true;
	case PTC_PKT_MTC:
		return t->known && take_mtc(t, p);
	case PTC_PKT_CYC:
		return false;
	default:
		return true;
	}
}
