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

/* The one at @at of @bytes. False: it is not whole, or has what is not to be in one. */
bool ptc_fast_psb_read(const uint8_t *bytes, size_t len, size_t at, struct ptc_fast_psb *ret);

/* By the second byte of a MODE.Exec. */
enum ptc_mode ptc_fast_mode_of(uint8_t bits);

/* Does it say nothing but the time, or nothing at all? */
static inline bool ptc_fast_is_timing(enum ptc_pkt type)
{
	return type == PTC_PKT_PAD || type == PTC_PKT_TSC || type == PTC_PKT_TMA ||
	       type == PTC_PKT_MTC || type == PTC_PKT_CYC || type == PTC_PKT_CBR;
}

#endif
