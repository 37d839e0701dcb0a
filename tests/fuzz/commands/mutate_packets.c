/* SPDX-License-Identifier: MIT */
/* Intel PT packets: deletes, duplicates, moves, inserts and changes them. */
#include <string.h>

#include "../fuzz.h"
#include "arch/pt_packet.h"
#include "lib_packet.h"
#include "lib_pt.h"
#include "mutate.h"

enum { PACKETS = 512 };

/*
 * Finds the packets in [off, off + len), and the end; a byte that begins no packet counts as a
 * packet.
 */
static size_t find_packets(const struct ptc_buf *b, size_t off, size_t len, size_t *at)
{
	const size_t end = off + len;
	enum ptc_pkt type;
	size_t n = 0;
	int size;

	while (off < end && n < PACKETS) {
		at[n++] = off;
		size = ptc_pkt_len(b->bytes + off, end - off, &type);
		off += size > 0 ? (size_t)size : 1;
	}
	at[n] = off;
	return n;
}

static uint64_t pick_ip(struct mu_random *r)
{
	static const uint64_t bases[] = { 0, PT_HIGH, 0xffffffffa1000000 - PT_CODE,
					  0x5000 - PT_CODE };

	if (mu_once_in(r, 8))
		return mu_number(r, 8);
	return bases[mu_below(r, sizeof(bases) / sizeof(bases[0]))] + PT_CODE +
	       mu_below(r, PT_CODE_LEN + 3);
}

static void put_ip(struct mu_random *r, struct ptc_buf *b)
{
	static const uint8_t opcodes[] = { PT_TIP, PT_PGE, PT_PGD, PT_FUP };
	const uint8_t opcode = opcodes[mu_below(r, sizeof(opcodes))];

	switch (mu_below(r, 3)) {
	case 0:
		pt_ip_none(b, opcode);
		break;
	case 1:
		pt_ip16(b, opcode, pick_ip(r));
		break;
	default:
		pt_ip(b, opcode, pick_ip(r));
		break;
	}
}

/*
 * Puts packets without a function in lib_packet: PIP, VMCS, STOP, MNT, PTW, power and event
 * packets, BBP.
 */
static void put_rare(struct mu_random *r, struct ptc_buf *b)
{
	static const struct {
		uint8_t len, bytes[12];
	} rare[] = {
		{ 8, { 0x02, 0x43, 0x10 } },
		{ 7, { 0x02, 0xc8, 0x10 } },
		{ 2, { 0x02, 0x83 } },
		{ 11, { 0x02, 0xc3, 0x88, 1 } },
		{ 6, { 0x02, 0x12, 1 } },
		{ 10, { 0x02, 0x32, 1 } },
		{ 6, { 0x02, 0x92, 1 } },
		{ 2, { 0x02, 0x62 } },
		{ 10, { 0x02, 0xc2, 1 } },
		{ 4, { 0x02, 0x22, 1 } },
		{ 7, { 0x02, 0xa2, 1 } },
		{ 2, { 0x02, 0xe2 } },
		{ 3, { 0x02, 0x63, 1 } },
		{ 2, { 0x02, 0x33 } },
		{ 4, { 0x02, 0x13, 0x81, 0x20 } },
		{ 11, { 0x02, 0x53, 0x01, 1 } },
	};
	const size_t i = mu_below(r, sizeof(rare) / sizeof(rare[0]));

	ptc_buf_put(b, rare[i].bytes, rare[i].len);
}

static void put_any(struct mu_random *r, struct ptc_buf *b)
{
	switch (mu_below(r, 14)) {
	case 0:
		pt_psb_on(b, pick_ip(r));
		break;
	case 1:
		pt_psb_on_at(b, mu_number(r, 8), pick_ip(r));
		break;
	case 2:
		pt_psb_off(b);
		break;
	case 3:
		pt_tnt64(b, mu_next(r), 1 + (unsigned int)mu_below(r, 47));
		break;
	case 4:
		pt_tnt(b, mu_once_in(r, 2) ? "TNT" : "NNNTTN");
		break;
	case 5:
		pt_mode_exec64(b);
		break;
	case 6:
		pt_mode_tsx(b, mu_once_in(r, 2), mu_once_in(r, 2));
		break;
	case 7:
		pt_tsc(b, mu_number(r, 8));
		break;
	case 8:
		pt_tma(b, (uint16_t)mu_next(r), (uint16_t)mu_below(r, 512));
		pt_mtc(b, (uint8_t)mu_next(r));
		break;
	case 9:
		pt_cyc(b, mu_number(r, 8));
		break;
	case 10:
		pt_ovf(b);
		break;
	case 11:
		put_rare(r, b);
		break;
	default:
		put_ip(r, b);
		break;
	}
}

size_t mu_packets(struct mu_random *r, struct ptc_buf *b, size_t off, size_t len)
{
	size_t at[PACKETS + 1], n = find_packets(b, off, len, at), i, k, size;
	const size_t before = b->len;
	struct ptc_buf made = PTC_BUF_INIT;

	if (!n) {
		put_any(r, &made);
		(void)mu_splice(b, off, 0, made.bytes, made.len);
		ptc_buf_release(&made);
		return len + b->len - before;
	}
	i = mu_below(r, n);
	k = mu_below(r, n);
	size = at[i + 1] - at[i];
	switch (mu_below(r, 7)) {
	case 0:
		(void)mu_splice(b, at[i], size, NULL, 0);
		break;
	case 1:
		(void)mu_splice(b, at[k], 0, b->bytes + at[i], size);
		break;
	case 2: /* several, from i to k */
		if (i > k)
			(void)mu_splice(b, at[k], at[i] - at[k], NULL, 0);
		else
			(void)mu_splice(b, at[k], 0, b->bytes + at[i], at[k] - at[i]);
		break;
	case 3:
		b->bytes[at[i] + mu_below(r, size)] ^= (uint8_t)(1u << mu_below(r, 8));
		break;
	case 4:
		mu_set_number(r, b, at[i], size);
		break;
	default:
		put_any(r, &made);
		CHECK(!ptc_buf_failed(&made));
		(void)mu_splice(b, at[i], mu_once_in(r, 2) ? size : 0, made.bytes, made.len);
		break;
	}
	ptc_buf_release(&made);
	return len + b->len - before;
}
