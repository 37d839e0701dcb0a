/* SPDX-License-Identifier: MIT */
/* Puts PT packets: SDM vol. 3C, 33.4.2. Out of memory aborts. */
#ifndef PTC_TESTS_LIB_PACKET_H
#define PTC_TESTS_LIB_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { PT_TIP = 0x0d, PT_PGE = 0x11, PT_PGD = 0x01, PT_FUP = 0x1d };

/* Puts an IP packet: 6 bytes, sign-extended (IPBytes 3), which needs no last IP. */
void pt_ip(struct ptc_buf *b, uint8_t opcode, uint64_t ip);
/* Put an IP packet with the low 2 bytes only (IPBytes 1), or without an IP (suppressed, 0). */
void pt_ip16(struct ptc_buf *b, uint8_t opcode, uint64_t ip);
void pt_ip_none(struct ptc_buf *b, uint8_t opcode);
/* Puts short TNT packets for 'T' and 'N' (ignores other characters), 6 bits each. */
void pt_tnt(struct ptc_buf *b, const char *bits);
/* Puts a long TNT packet of up to 47 bits, the oldest in bit @n - 1. */
void pt_tnt64(struct ptc_buf *b, uint64_t bits, unsigned int n);
void pt_psb(struct ptc_buf *b);
void pt_psbend(struct ptc_buf *b);
void pt_mode_exec64(struct ptc_buf *b);
void pt_mode_tsx(struct ptc_buf *b, bool intx, bool aborted);
void pt_tsc(struct ptc_buf *b, uint64_t tsc);
/*
 * Put time packets between TSC packets: CTC and fast counter at the TSC; 8 bits of the CTC; cycles;
 * a ratio.
 */
void pt_tma(struct ptc_buf *b, uint16_t ctc, uint16_t fc);
void pt_mtc(struct ptc_buf *b, uint8_t ctc);
void pt_cyc(struct ptc_buf *b, uint64_t cycles);
void pt_cbr(struct ptc_buf *b, uint8_t ratio);
void pt_ovf(struct ptc_buf *b);

/* Put a PSB+ with tracing on at @ip in 64-bit code, or with tracing off. */
void pt_psb_on(struct ptc_buf *b, uint64_t ip);
void pt_psb_off(struct ptc_buf *b);
/* Puts a PSB+ as pt_psb_on, with the time @tsc. */
void pt_psb_on_at(struct ptc_buf *b, uint64_t tsc, uint64_t ip);
/* Puts MODE.Exec and TIP.PGE. */
void pt_enable(struct ptc_buf *b, uint64_t ip);

#endif
