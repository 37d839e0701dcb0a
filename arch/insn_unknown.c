/* SPDX-License-Identifier: MIT */
#include "arch/insn_unknown.h"

#include <stdbool.h>
#include <string.h>

/* Opcode maps. For VEX, EVEX and XOP the values are the encoded map numbers. */
enum {
	MAP_0F = 1,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAP_APX = 4,
	MAP_5 = 5,
	MAP_7 = 7,
	MAP_XOP = 8,
	MAP_XOP_A = 10
};

struct reading {
	const uint8_t *bytes;
	size_t len, at;
	unsigned int map;
	bool evex, p66;
};

static bool has(const struct reading *r, size_t n)
{
	return r->len - r->at >= n;
}

static void skip_prefixes(struct reading *r, enum ptc_mode mode)
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 };

	while (has(r, 1) && memchr(prefixes, r->bytes[r->at], sizeof(prefixes)))
		r->p66 |= r->bytes[r->at++] == 0x66;
	if (mode == PTC_MODE_64 && has(r, 1) && r->bytes[r->at] >> 4 == 4) /* REX */
		r->at++;
}

/*
 * Read the prefix that selects the map. Returns false if there is none. In 32-bit code, C4, C5 and
 * 62 are other instructions unless both high bits of the next byte are set.
 */
static bool take_map(struct reading *r, enum ptc_mode mode)
{
	const uint8_t *p = r->bytes + r->at;

	if (!has(r, 3))
		return false;
	if ((p[0] == 0xc4 || p[0] == 0xc5 || p[0] == 0x62) && mode != PTC_MODE_64 && p[1] < 0xc0)
		return false;
	switch (p[0]) {
	case 0xc5:
		r->map = MAP_0F;
		r->at += 2;
		return true;
	case 0xc4: /* SDM volume 2, 2.3.6.1: other values of mmmmm are reserved */
		r->map = p[1] & 0x1f;
		r->at += 3;
		return r->map <= MAP_0F3A || r->map == MAP_5 || r->map == MAP_7;
	case 0x62:
		r->map = p[1] & 7;
		r->evex = true;
		r->at += 4;
		return true;
	case 0x8f:
		r->map = p[1] & 0x1f;
		r->at += 3;
		return r->map >= MAP_XOP && r->map <= MAP_XOP_A;
	case 0x0f:
		r->map = p[1] == 0x38 ? MAP_0F38 : MAP_0F3A;
		r->at += 2;
		return p[1] == 0x38 || p[1] == 0x3a;
	default:
		return false;
	}
}

/* Returns the bytes of the immediate of opcode @op. @reg: the reg field of ModRM. */
static size_t immediate(const struct reading *r, uint8_t op, unsigned int reg)
{
	const size_t wide = r->p66 ? 2 : 4;

	switch (r->map) {
	case MAP_0F:
		return (op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
	case MAP_0F3A:
	case MAP_XOP:
		return 1;
	case MAP_APX: /* opcodes of the one-byte map and of 0F, with the same immediates */
		if (op == 0x69 || op == 0x81 || (op == 0xf7 && reg < 2))
			return wide;
		return op == 0x6b || op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 ||
		       op == 0x24 || op == 0x2c || (op == 0xf6 && reg < 2);
	case MAP_7:
	case MAP_XOP_A:
		return 4;
	default:
		return 0;
	}
}

/*
 * Returns the bytes of ModRM, SIB and displacement with 32- or 64-bit addressing. 0: too few bytes.
 */
static size_t operand(const uint8_t *p, size_t len)
{
	const unsigned int mod = len ? p[0] >> 6 : 0, rm = len ? p[0] & 7 : 0;
	const bool sib = mod != 3 && rm == 4;
	size_t n = 1;

	if (!len || (sib && len < 2))
		return 0;
	if (sib)
		n++;
	if (mod == 1)
		n += 1;
	else if (mod == 2 || (!mod && (rm == 5 || (sib && (p[1] & 7) == 5))))
		n += 4;
	return n;
}

size_t ptc_insn_unknown_len(enum ptc_mode mode, const uint8_t *bytes, size_t len)
{
	struct reading r = { .bytes = bytes, .len = len < PTC_INSN_MAX ? len : PTC_INSN_MAX };
	uint8_t op, modrm;
	size_t n;

	if (mode == PTC_MODE_16)
		return 0;
	skip_prefixes(&r, mode);
	if (!take_map(&r, mode) || !r.map || r.at >= r.len)
		return 0;
	op = bytes[r.at++];
	if (r.map == MAP_0F && op == 0x77 && !r.evex) /* vzeroupper */
		return r.at;
	n = operand(bytes + r.at, r.len - r.at);
	modrm = n ? bytes[r.at] : 0;
	n = n ? r.at + n + immediate(&r, op, modrm >> 3 & 7) : 0;
	return n <= r.len ? n : 0;
}
