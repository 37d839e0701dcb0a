/* SPDX-License-Identifier: MIT */
/*
 * The time behind each timing packet, in TSC ticks, as libipt computes it. TSC packets give the
 * time. MTC packets count on from there, with the counter value that the TMA behind the TSC gives.
 * CYC packets are not supported. SDM vol. 3C, 33.8.3.
 */
#ifndef PTC_DECODE_ENGINE_PACKET_TIME_H
#define PTC_DECODE_ENGINE_PACKET_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/pt_packet.h"

/* How time is counted. Zeros: unknown. */
struct ptc_fast_clock {
	uint8_t mtc_freq;	      /* an MTC has the bits of the CTC from this one on */
	uint32_t ctc_ticks, ctc_unit; /* ctc_ticks TSC ticks are ctc_unit CTC ticks */
};

struct ptc_fast_time {
	bool on; /* the time is wanted */
	struct ptc_fast_clock clock;
	uint64_t tsc;
	bool known, counts; /* known: there was a TSC; counts: and a TMA behind it */
	bool partly;	    /* no MTC since the TMA: an MTC may have higher bits of the counter */
	uint64_t base;	    /* the time when the counter was ctc */
	uint32_t ctc;
};

/* Forget the time. */
static inline void ptc_fast_time_begin(struct ptc_fast_time *t)
{
	t->tsc = t->base = 0;
	t->ctc = 0;
	t->known = t->counts = t->partly = false;
}

/*
 * Take the packet at @p, of @type, for which ptc_fast_is_time is true. Returns false if its meaning
 * is not known here.
 */
bool ptc_fast_time_take(struct ptc_fast_time *t, const uint8_t *p, enum ptc_pkt type);

#endif
