/* SPDX-License-Identifier: MIT */
/* Reads a PSB+. SDM vol. 3C, 33.3.7. */
#ifndef PTC_DECODE_ENGINE_PSB_PLUS_H
#define PTC_DECODE_ENGINE_PSB_PLUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "arch/pt_packet.h"

struct ptc_fast_psb {
	bool has_ip, has_mode;
	uint64_t ip; /* position of the flow; without it, tracing is off */
	enum ptc_mode mode;
	uint64_t last_ip;
	size_t end; /* offset behind its PSBEND */
};

/*
 * Read the PSB+ at @at of @bytes. Returns false if it is not whole, or has a packet that must not
 * be in it. @tsc: see ptc_fast_is_time.
 */
bool ptc_fast_psb_read(const uint8_t *bytes, size_t len, size_t at, bool *tsc,
		       struct ptc_fast_psb *ret);

/* Set *@ret from the second byte of a MODE.Exec. Returns false if no code has such a mode. */
bool ptc_fast_mode(uint8_t bits, enum ptc_mode *ret);

/* Returns the length of the CYC at @p, which is whole. 0: longer than a CYC may be. */
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
 * Is the packet at @p valid, and does it give only the time, or nothing at all? Call once for each
 * packet. @tsc remembers a TSC that no TMA has used.
 */
bool ptc_fast_is_time(const uint8_t *p, enum ptc_pkt type, bool *tsc);

#endif
