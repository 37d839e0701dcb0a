/* SPDX-License-Identifier: MIT */
/*
 * Description: lengths, names and IPs of packets made by libipt's encoder.
 *
 * libipt is the reference: our length must match its encoder's output, and our IPs must match its
 * query decoder's.
 */
#include <criterion/criterion.h>
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"

struct pkt_case {
	struct pt_packet p;
	enum ptc_pkt type;
};

/* clang-format off */
static const struct pkt_case cases[] = {
	{ { .type = ppt_pad }, PTC_PKT_PAD },
	{ { .type = ppt_psb }, PTC_PKT_PSB },
	{ { .type = ppt_psbend }, PTC_PKT_PSBEND },
	{ { .type = ppt_ovf }, PTC_PKT_OVF },
	{ { .type = ppt_stop }, PTC_PKT_STOP },
	{ { .type = ppt_fup, .payload.ip = { pt_ipc_suppressed, 0 } }, PTC_PKT_FUP },
	{ { .type = ppt_fup, .payload.ip = { pt_ipc_sext_48, 0x7ffff7dd1234 } }, PTC_PKT_FUP },
	{ { .type = ppt_tip, .payload.ip = { pt_ipc_suppressed, 0 } }, PTC_PKT_TIP },
	{ { .type = ppt_tip, .payload.ip = { pt_ipc_update_16, 0x1234 } }, PTC_PKT_TIP },
	{ { .type = ppt_tip, .payload.ip = { pt_ipc_update_32, 0x12345678 } }, PTC_PKT_TIP },
	{ { .type = ppt_tip, .payload.ip = { pt_ipc_sext_48, 0x7fff12345678 } }, PTC_PKT_TIP },
	{ { .type = ppt_tip, .payload.ip = { pt_ipc_update_48, 0xffff12345678 } }, PTC_PKT_TIP },
	{ { .type = ppt_tip, .payload.ip = { pt_ipc_full, 0xffffffff81000000 } }, PTC_PKT_TIP },
	{ { .type = ppt_tip_pge, .payload.ip = { pt_ipc_full, 0x401000 } }, PTC_PKT_TIP_PGE },
	{ { .type = ppt_tip_pge, .payload.ip = { pt_ipc_update_16, 0x1000 } }, PTC_PKT_TIP_PGE },
	{ { .type = ppt_tip_pgd, .payload.ip = { pt_ipc_suppressed, 0 } }, PTC_PKT_TIP_PGD },
	{ { .type = ppt_tip_pgd, .payload.ip = { pt_ipc_update_32, 0x401000 } }, PTC_PKT_TIP_PGD },
	{ { .type = ppt_tnt_8, .payload.tnt = { 1, 1 } }, PTC_PKT_TNT },
	{ { .type = ppt_tnt_8, .payload.tnt = { 1, 0 } }, PTC_PKT_TNT },
	{ { .type = ppt_tnt_8, .payload.tnt = { 6, 0x2a } }, PTC_PKT_TNT },
	{ { .type = ppt_tnt_64, .payload.tnt = { 47, 0x2aaaaaaaaaaa } }, PTC_PKT_TNT64 },
	{ { .type = ppt_tnt_64, .payload.tnt = { 7, 0x55 } }, PTC_PKT_TNT64 },
	{ { .type = ppt_mode, .payload.mode = { pt_mol_exec, { .exec = { .csl = 1 } } } }, PTC_PKT_MODE },
	{ { .type = ppt_mode, .payload.mode = { pt_mol_tsx, { .tsx = { .intx = 1 } } } }, PTC_PKT_MODE },
	{ { .type = ppt_pip, .payload.pip = { .cr3 = 0x123456789000ull, .nr = 1 } }, PTC_PKT_PIP },
	{ { .type = ppt_vmcs, .payload.vmcs = { .base = 0xabcdef000ull } }, PTC_PKT_VMCS },
	{ { .type = ppt_tsc, .payload.tsc = { .tsc = 0x123456789abcdull } }, PTC_PKT_TSC },
	{ { .type = ppt_tma, .payload.tma = { .ctc = 0x1234, .fc = 0x156 } }, PTC_PKT_TMA },
	{ { .type = ppt_mtc, .payload.mtc = { .ctc = 0x42 } }, PTC_PKT_MTC },
	{ { .type = ppt_cbr, .payload.cbr = { .ratio = 36 } }, PTC_PKT_CBR },
	{ { .type = ppt_cyc, .payload.cyc = { .value = 0 } }, PTC_PKT_CYC },
	{ { .type = ppt_cyc, .payload.cyc = { .value = 0x1f } }, PTC_PKT_CYC },
	{ { .type = ppt_cyc, .payload.cyc = { .value = 0x20 } }, PTC_PKT_CYC },
	{ { .type = ppt_cyc, .payload.cyc = { .value = 0xfff } }, PTC_PKT_CYC },
	{ { .type = ppt_cyc, .payload.cyc = { .value = 0x1000 } }, PTC_PKT_CYC },
	{ { .type = ppt_cyc, .payload.cyc = { .value = 0xffffffffffff } }, PTC_PKT_CYC },
	{ { .type = ppt_mnt, .payload.mnt = { .payload = 0x1122334455667788ull } }, PTC_PKT_OTHER },
	{ { .type = ppt_exstop, .payload.exstop = { .ip = 0 } }, PTC_PKT_OTHER },
	{ { .type = ppt_exstop, .payload.exstop = { .ip = 1 } }, PTC_PKT_OTHER },
	{ { .type = ppt_mwait, .payload.mwait = { .hints = 1, .ext = 1 } }, PTC_PKT_OTHER },
	{ { .type = ppt_pwre, .payload.pwre = { .state = 2, .sub_state = 1, .hw = 1 } }, PTC_PKT_OTHER },
	{ { .type = ppt_pwrx, .payload.pwrx = { .last = 2, .deepest = 3, .store = 1 } }, PTC_PKT_OTHER },
	{ { .type = ppt_ptw, .payload.ptw = { .payload = 0x12345678, .plc = 0, .ip = 0 } }, PTC_PKT_PTW },
	{ { .type = ppt_ptw, .payload.ptw = { .payload = 0x1122334455667788ull, .plc = 1, .ip = 1 } }, PTC_PKT_PTW },
};
/* clang-format on */

#define EACH_CASE(c)                                                                               \
	(c) = cases;                                                                               \
	(c) < cases + sizeof(cases) / sizeof(cases[0]);                                            \
	(c)++

static size_t encode(const struct pt_packet *p, size_t n, uint8_t *out, size_t room)
{
	struct pt_encoder *enc;
	struct pt_config config;
	uint64_t off;
	size_t i;

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.begin = out;
	config.end = out + room;
	enc = pt_alloc_encoder(&config);
	cr_assert_not_null(enc);
	for (i = 0; i < n; i++)
		cr_assert_geq(pt_enc_next(enc, &p[i]), 0, "packet %zu of type %d", i, p[i].type);
	cr_assert_eq(pt_enc_get_offset(enc, &off), 0);
	pt_free_encoder(enc);
	return (size_t)off;
}

Test(pt_packet, every_packet_has_its_length_and_type)
{
	const struct pkt_case *c;

	for (EACH_CASE(c)) {
		uint8_t bytes[64];
		enum ptc_pkt type;
		size_t len;

		memset(bytes, 0xff, sizeof(bytes)); /* the bytes behind must not matter */
		len = encode(&c->p, 1, bytes, sizeof(bytes));
		cr_assert_eq(ptc_pkt_len(bytes, len, &type), (int)len, "libipt's type %d",
			     c->p.type);
		cr_assert_eq(type, c->type, "libipt's type %d is %s", c->p.type,
			     ptc_pkt_name(type));
		cr_assert_eq(ptc_pkt_len(bytes, sizeof(bytes), &type), (int)len);
	}
}

Test(pt_packet, a_cut_packet_needs_more_bytes)
{
	const struct pkt_case *c;

	for (EACH_CASE(c)) {
		uint8_t bytes[64];
		const size_t len = encode(&c->p, 1, bytes, sizeof(bytes));
		size_t cut;

		for (cut = 0; cut < len; cut++) {
			uint8_t *p = malloc(cut ? cut : 1);
			enum ptc_pkt type;

			memcpy(p, bytes, cut);
			cr_assert_eq(ptc_pkt_len(p, cut, &type), 0, "libipt's type %d cut to %zu",
				     c->p.type, cut);
			free(p);
		}
	}
}

/* Compares every pair of first bytes, followed by zeros, with libipt's packet decoder. */
Test(pt_packet, agrees_with_libipt_on_every_opcode)
{
	unsigned int a, b;

	for (a = 0; a < 256; a++)
		for (b = 0; b < 256; b++) {
			uint8_t bytes[24] = { (uint8_t)a, (uint8_t)b };
			struct pt_packet_decoder *dec;
			struct pt_config config;
			struct pt_packet packet;
			enum ptc_pkt type;
			int ours, theirs;

			if (a == 0x02 && b == 0xc3)
				bytes[2] = 0x88; /* MNT: completes the opcode */
			if (a == 0x02 && b == 0x82)
				continue; /* a PSB needs all its bytes */
			memset(&config, 0, sizeof(config));
			config.size = sizeof(config);
			config.begin = bytes;
			config.end = bytes + sizeof(bytes);
			dec = pt_pkt_alloc_decoder(&config);
			cr_assert_not_null(dec);
			cr_assert_eq(pt_pkt_sync_set(dec, 0), 0);
			theirs = pt_pkt_next(dec, &packet, sizeof(packet));
			ours = ptc_pkt_len(bytes, sizeof(bytes), &type);
			pt_pkt_free_decoder(dec);
			/* Newer than libipt 2.0.5: BBP, BIP, BEP, CFE, EVD, TRIG. */
			if (theirs < 0 && type == PTC_PKT_OTHER)
				continue;
			/* A packet whose payload libipt refuses still has a length. */
			if (theirs == -pte_bad_packet)
				continue;
			cr_assert_eq(ours < 0, theirs < 0, "%02x %02x: ours %d, theirs %d", a, b,
				     ours, theirs);
			if (ours >= 0)
				cr_assert_eq(ours, theirs, "%02x %02x", a, b);
		}
}

Test(pt_packet, endless_cyc_is_no_packet)
{
	uint8_t bytes[32];
	enum ptc_pkt type;

	memset(bytes, 0xff, sizeof(bytes));
	cr_assert_eq(ptc_pkt_len(bytes, sizeof(bytes), &type), -1);
	cr_assert_eq(ptc_pkt_len(bytes, 14, &type), 0);
}

Test(pt_packet, a_damaged_psb_is_no_packet)
{
	uint8_t bytes[PTC_PSB_LEN];
	enum ptc_pkt type;
	size_t i;

	for (i = 2; i < PTC_PSB_LEN; i++) {
		size_t b;

		for (b = 0; b < PTC_PSB_LEN; b++)
			bytes[b] = b & 1 ? 0x82 : 0x02;
		bytes[i] ^= 0x10;
		cr_assert_eq(ptc_pkt_len(bytes, PTC_PSB_LEN, &type), -1, "byte %zu", i);
		cr_assert_eq(ptc_pkt_next_psb(bytes, PTC_PSB_LEN, 0), PTC_PSB_LEN);
	}
}

Test(pt_packet, a_psb_begins_where_its_last_bytes_say_so)
{
	uint8_t bytes[2 + PTC_PSB_LEN + 2];
	size_t i;

	/* A PSB behind a TNT whose payload looks like a part of a PSB. */
	for (i = 0; i < 2 + PTC_PSB_LEN; i++)
		bytes[i] = i % 2 ? 0x82 : 0x02;
	bytes[i++] = 0x02;
	bytes[i] = 0x23;
	cr_assert_eq(ptc_pkt_next_psb(bytes, sizeof(bytes), 0), 2);
	cr_assert_eq(ptc_pkt_next_psb(bytes, 2 + PTC_PSB_LEN, 0), 2);
	cr_assert_eq(ptc_pkt_next_psb(bytes, 1 + PTC_PSB_LEN, 0), 0);
	cr_assert_eq(ptc_pkt_next_psb(bytes, sizeof(bytes), 2), 2);
}

Test(pt_packet, the_next_psb_is_found_wherever_it_is)
{
	size_t at, len;

	for (len = PTC_PSB_LEN; len < 3ul * PTC_PSB_LEN; len++)
		for (at = 0; at + PTC_PSB_LEN <= len; at++) {
			uint8_t *p = calloc(1, len);
			size_t i;

			for (i = 0; i < PTC_PSB_LEN; i++)
				p[at + i] = i & 1 ? 0x82 : 0x02;
			cr_assert_eq(ptc_pkt_next_psb(p, len, 0), at);
			cr_assert_eq(ptc_pkt_next_psb(p, len, at), at);
			cr_assert_eq(ptc_pkt_next_psb(p, len, at + 1), len);
			cr_assert_eq(ptc_pkt_next_psb(p, len - (len - at - PTC_PSB_LEN) - 1, 0),
				     at + PTC_PSB_LEN - 1, "cut by one byte");
			cr_assert_eq(ptc_pkt_next_psb(p, len, len + 5), len);
			free(p);
		}
}

/* The search reads the bytes in front of the PSB in chunks. */
Test(pt_packet, a_psb_behind_much_else_is_found)
{
	enum { LEN = 400 };
	size_t from, at, i;

	for (at = 0; at + PTC_PSB_LEN <= LEN; at++) {
		uint8_t *p = malloc(LEN);

		cr_assert(p);
		memset(p, at % 3 ? 0x02 : 0x82, LEN);
		for (i = 0; i < PTC_PSB_LEN; i++)
			p[at + i] = i & 1 ? 0x82 : 0x02;
		for (from = 0; from <= at; from += 1 + at / 8)
			cr_assert_eq(ptc_pkt_next_psb(p, LEN, from), at, "%zu from %zu", at, from);
		cr_assert_eq(ptc_pkt_next_psb(p, LEN, at + 1), LEN);
		free(p);
	}
}

/* Compares the IPs of a stream of TIPs with all compressions with libipt's query decoder. */
Test(pt_packet, ips_are_those_of_libipt)
{
	enum { TIPS = 400 };
	static const enum pt_ip_compression ipc[] = { pt_ipc_suppressed, pt_ipc_update_16,
						      pt_ipc_update_32,	 pt_ipc_sext_48,
						      pt_ipc_update_48,	 pt_ipc_full };
	static const uint64_t mask[] = { 0,    0xffff, 0xffffffff, 0xffffffffffff, 0xffffffffffff,
					 ~0ull };
	struct pt_packet p[TIPS + 4] = {
		{ .type = ppt_psb },
		{ .type = ppt_mode, .payload.mode = { pt_mol_exec, { .exec = { .csl = 1 } } } },
		{ .type = ppt_fup, .payload.ip = { pt_ipc_full, 0xffffffff81234567 } },
		{ .type = ppt_psbend },
	};
	uint8_t *bytes = malloc(9ul * TIPS + 64);
	struct pt_query_decoder *dec;
	struct pt_config config;
	uint64_t rng = 1, last = 0, ip;
	size_t len, at, i;
	int status;

	for (i = 4; i < TIPS + 4; i++) {
		const size_t k = (rng = rng * 6364136223846793005u + 1) >> 40 & 7;
		const size_t c = k < 6 ? k : 1;

		rng = rng * 6364136223846793005u + 1442695040888963407u;
		p[i].type = ppt_tip;
		p[i].payload.ip.ipc = ipc[c];
		p[i].payload.ip.ip = (rng >> 7 ^ rng << 20) & mask[c];
	}
	len = encode(p, TIPS + 4, bytes, 9ul * TIPS + 64);

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.begin = bytes;
	config.end = bytes + len;
	dec = pt_qry_alloc_decoder(&config);
	cr_assert_not_null(dec);
	status = pt_qry_sync_forward(dec, &ip);
	cr_assert_geq(status, 0);
	for (at = 0, i = 0; at < len; i++) {
		enum ptc_pkt type;
		const int n = ptc_pkt_len(bytes + at, len - at, &type);
		uint64_t ours;
		bool there;

		cr_assert_gt(n, 0);
		if (type == PTC_PKT_FUP) {
			cr_assert(ptc_pkt_ip(bytes + at, last, &last));
			cr_assert_eq(last, ip);
		} else if (type == PTC_PKT_TIP) {
			struct pt_event event;

			while (status & pts_event_pending) {
				status = pt_qry_event(dec, &event, sizeof(event));
				cr_assert_geq(status, 0);
			}
			there = ptc_pkt_ip(bytes + at, last, &ours);
			status = pt_qry_indirect_branch(dec, &ip);
			cr_assert_geq(status, 0, "packet %zu: %s", i,
				      pt_errstr(pt_errcode(status)));
			cr_assert_eq(there, !(status & pts_ip_suppressed), "packet %zu", i);
			if (there)
				cr_assert_eq(ours, ip, "packet %zu: ours %lx, theirs %lx", i, ours,
					     ip);
			else
				cr_assert_eq(ours, last);
			last = ours;
		}
		at += (size_t)n;
	}
	cr_assert_eq(i, TIPS + 4);
	pt_qry_free_decoder(dec);
	free(bytes);
}

Test(pt_packet, a_tnt_packet_tells_how_many_branches_it_is_of)
{
	const uint8_t full[] = { 0x02, 0xa3, 0x50, 0x55, 0xa1, 0x0d, 0x08, 0xc0 };
	const uint8_t one[] = { 0x02, 0xa3, 0x03, 0, 0, 0, 0, 0 };
	const uint8_t none[] = { 0x02, 0xa3, 0, 0, 0, 0, 0, 0 };
	const uint8_t psb[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

	cr_assert(ptc_pkt_is_tnt64(full, sizeof(full)));
	cr_assert_not(ptc_pkt_is_tnt64(full, sizeof(full) - 1));
	cr_assert_not(ptc_pkt_is_tnt64(psb, sizeof(psb)));
	cr_assert_eq(ptc_pkt_tnt_bits(full), 47);
	cr_assert_eq(ptc_pkt_tnt_bits(one), 1);
	cr_assert_eq(ptc_pkt_tnt_bits(none), -1);
	cr_assert_eq(ptc_pkt_tnt_bits((const uint8_t[]){ 0x04 }), 1);
	cr_assert_eq(ptc_pkt_tnt_bits((const uint8_t[]){ 0xdc }), 6);
}

Test(pt_packet, what_begins_a_packet_is_known_from_its_first_byte)
{
	enum ptc_pkt type;
	unsigned int i;
	int len;

	for (i = 0; i < 256; i++) {
		const uint8_t p[16] = { (uint8_t)i };

		len = ptc_pkt_len(p, sizeof(p), &type);
		cr_assert_eq(ptc_pkt_is_tnt((uint8_t)i), len > 0 && type == PTC_PKT_TNT, "%02x", i);
		cr_assert_eq(ptc_pkt_is_tip((uint8_t)i) && ptc_pkt_ip_len((uint8_t)i),
			     len > 0 && type == PTC_PKT_TIP, "%02x", i);
		if (len > 0 && type == PTC_PKT_TIP)
			cr_assert_eq(ptc_pkt_ip_len((uint8_t)i), (size_t)len, "%02x", i);
	}
}

Test(pt_packet, every_type_has_a_name)
{
	unsigned int i;

	for (i = 0; i < PTC_PKT_COUNT; i++)
		cr_assert_str_neq(ptc_pkt_name((enum ptc_pkt)i), "?");
	cr_assert_str_eq(ptc_pkt_name(PTC_PKT_COUNT), "?");
}
