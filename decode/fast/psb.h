/* SPDX-License-Identifier: MIT */
/* What a PSB+ says. SDM vol. 3C, 33.3.7. */
#ifndef PTC_DECODE_FAST_PSB_H
#define PTC_DECODE_FAST_PSB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "arch/pt_packet.h"

struct ptc_fast_psb {
	bool has_ip, has_mode;
	uint64_t ip; /* where the flow is; without one, tracing is off */
	enum ptc_mode mode;
	uint64_t last_ip;
	size_t end; /* behind its PSBEND */
};

/* The one at @at of @bytes. False: it is not whole, or has what is not to be in one. @tsc: below.
 */
bool ptc_fast_psb_read(const uint8_t *bytes, size_t len, size_t at, bool *tsc,
		       struct ptc_fast_psb *ret);

/* By the second byte of a MODE.Exec. False: no code has such a mode. */
bool ptc_fast_mode(uint8_t bits, enum ptc_mode *ret);

/* How long the CYC at @p is, which is whole; 0: longer than any is. */
static inline size_t ptc_fast_cyc_len(const uint8_t *p)
{
	enum { MAX = 15 };
	size_t n = 1;

	if (!(p[0] & 4))
		return n;
	while (n < MAX && p[n] & 1)
		n++;
	return n < MAX ? n + 1 : 0;
}

/*
 * Does the packet at @p say nothing but the time, or nothing at all, and is it as it should be?
 * Once for each: @tsc remembers that there was a TSC, which no other TMA has used.
 */
bool ptc_fast_is_time(const uint8_t *p, enum ptc_pkt type, bool *tsc);

#endif
