/* SPDX-License-Identifier: MIT */
/*
 * What time it is behind each packet that tells of it, in TSC ticks, as libipt reckons: TSC packets
 * say so, and MTC packets count on from there, by what TMA packets say of the counter behind them.
 * CYC packets are not for here. SDM vol. 3C, 33.8.3.
 */
#ifndef PTC_DECODE_FAST_TIME_H
#define PTC_DECODE_FAST_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/pt_packet.h"

/* How time is counted. Zeros: not known. */
struct ptc_fast_clock {
	uint8_t mtc_freq;	      /* MTC packets have the bits from this one on of the CTC */
	uint32_t ctc_ticks, ctc_unit; /* so many TSC ticks are so many of the CTC */
};

struct ptc_fast_time {
	bool on; /* it is wanted */
	struct ptc_fast_clock clock;
	uint64_t tsc;
	bool known, counts; /* there was a TSC; and a TMA behind it, */
	bool partly;	    /* and no MTC, which may have higher bits of the counter */
	uint64_t base;	    /* the time when the counter was ctc */
	uint32_t ctc;
};

/* Nothing is known. */
static inline void ptc_fast_time_begin(struct ptc_fast_time *t)
{
	t->tsc = t->base = 0;
	t->ctc = 0;
	t->known = t->counts = t->partly = false;
}

/*
 * Take the packet at @p, of @type: one that ptc_fast_is_time. False: what it means is not known
 * here.
 */
bool ptc_fast_time_take(struct ptc_fast_time *t, const uint8_t *p, enum ptc_pkt type);

#endif
