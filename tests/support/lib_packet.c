/* SPDX-License-Identifier: MIT */
#include "lib_packet.h"

#include <stdlib.h>
#include <string.h>

void pt_ip(struct ptc_buf *b, uint8_t opcode, uint64_t ip)
{
	ptc_buf_u8(b, (uint8_t)(opcode | 3 << 5));
	ptc_buf_le32(b, (uint32_t)ip);
	ptc_buf_le16(b, (uint16_t)(ip >> 32));
}

void pt_ip16(struct ptc_buf *b, uint8_t opcode, uint64_t ip)
{
	ptc_buf_u8(b, (uint8_t)(opcode | 1 << 5));
	ptc_buf_le16(b, (uint16_t)ip);
}

void pt_ip_none(struct ptc_buf *b, uint8_t opcode)
{
	ptc_buf_u8(b, opcode);
}

/* The oldest bit is the highest, with a stop bit 1 above it. Bit 0 is clear. */
static void tnt_put(struct ptc_buf *b, unsigned int bits, int n)
{
	if (n)
		ptc_buf_u8(b, (uint8_t)((1u << n | bits) << 1));
}

void pt_tnt(struct ptc_buf *b, const char *bits)
{
	unsigned int v = 0;
	int n = 0;

	for (; *bits; bits++) {
		if (*bits != 'T' && *bits != 'N')
			continue;
		v = v << 1 | (*bits == 'T');
		if (++n == 6) {
			tnt_put(b, v, n);
			v = 0;
			n = 0;
		}
	}
	tnt_put(b, v, n);
}

void pt_psb(struct ptc_buf *b)
{
	int i;

	for (i = 0; i < 8; i++)
		ptc_buf_le16(b, 0x8202);
}

void pt_psbend(struct ptc_buf *b)
{
	ptc_buf_le16(b, 0x2302);
}

void pt_mode_exec64(struct ptc_buf *b)
{
	ptc_buf_le16(b, 0x0199);
}

void pt_mode_tsx(struct ptc_buf *b, bool intx, bool aborted)
{
	ptc_buf_u8(b, 0x99);
	ptc_buf_u8(b, (uint8_t)(0x20 | (aborted ? 2 : 0) | (intx ? 1 : 0)));
}

void pt_tsc(struct ptc_buf *b, uint64_t tsc)
{
	int i;

	ptc_buf_u8(b, 0x19);
	for (i = 0; i < 7; i++)
		ptc_buf_u8(b, (uint8_t)(tsc >> (8 * i)));
}

void pt_tma(struct ptc_buf *b, uint16_t ctc, uint16_t fc)
{
	ptc_buf_le16(b, 0x7302);
	ptc_buf_le16(b, ctc);
	ptc_buf_u8(b, 0);
	ptc_buf_le16(b, fc);
}

void pt_mtc(struct ptc_buf *b, uint8_t ctc)
{
	ptc_buf_u8(b, 0x59);
	ptc_buf_u8(b, ctc);
}

/* 5 bits, then 7 bits in each byte; the lowest bit of a byte says that more follow. */
void pt_cyc(struct ptc_buf *b, uint64_t cycles)
{
	ptc_buf_u8(b, (uint8_t)((cycles & 0x1f) << 3 | (cycles > 0x1f ? 4 : 0) | 3));
	for (cycles >>= 5; cycles; cycles >>= 7)
		ptc_buf_u8(b, (uint8_t)((cycles & 0x7f) << 1 | (cycles > 0x7f ? 1 : 0)));
}

void pt_cbr(struct ptc_buf *b, uint8_t ratio)
{
	ptc_buf_le16(b, 0x0302);
	ptc_buf_le16(b, ratio);
}

void pt_tnt64(struct ptc_buf *b, uint64_t bits, unsigned int n)
{
	uint64_t v = 1ull << n | bits;
	int i;

	ptc_buf_le16(b, 0xa302);
	for (i = 0; i < 6; i++, v >>= 8)
		ptc_buf_u8(b, (uint8_t)v);
}

void pt_ovf(struct ptc_buf *b)
{
	ptc_buf_le16(b, 0xf302);
}

void pt_psb_on(struct ptc_buf *b, uint64_t ip)
{
	pt_psb(b);
	pt_mode_exec64(b);
	pt_ip(b, PT_FUP, ip);
	pt_psbend(b);
}

void pt_psb_on_at(struct ptc_buf *b, uint64_t tsc, uint64_t ip)
{
	pt_psb(b);
	pt_tsc(b, tsc);
	pt_mode_exec64(b);
	pt_ip(b, PT_FUP, ip);
	pt_psbend(b);
}

void pt_psb_off(struct ptc_buf *b)
{
	pt_psb(b);
	pt_psbend(b);
}

void pt_enable(struct ptc_buf *b, uint64_t ip)
{
	pt_mode_exec64(b);
	pt_ip(b, PT_PGE, ip);
}
