/* SPDX-License-Identifier: MIT */
#include "arch/insn_plain.h"

#include <string.h>

/*
 * Operands of each opcode (SDM vol. 2, appendix A). One letter says which bytes follow the opcode:
 *
 *	.	left to Zydis		-	nothing
 *	m	ModRM			l	ModRM, memory operand only
 *	8 z v	immediate of 1 byte; of 4, or 2 with 66; as z, or 8 with REX.W
 *	b d	m and 8; m and z	B g	b and m, except /6
 *	c C	b and d, only /0	t T	m, and 8 or z for /0; not /1
 *	x X	m, only /0 and /1; /0, /1, /6, and calls and jumps: /2, /4
 *	j J i	jcc, jmp of 4, jmp of 1	k r	call, ret
 */
static const char one_byte[] = "mmmm8z..mmmm8z.." /* 00 */
			       "mmmm8z..mmmm8z.." /* 10 */
			       "mmmm8z..mmmm8z.." /* 20 */
			       "mmmm8z..mmmm8z.." /* 30 */
			       "................" /* 40 */
			       "----------------" /* 50 */
			       "...m....zd8b...." /* 60 */
			       "jjjjjjjjjjjjjjjj" /* 70 */
			       "bd.bmmmmmmmm.l.." /* 80 */
			       "----------......" /* 90 */
			       "........8z......" /* a0 */
			       "88888888vvvvvvvv" /* b0 */
			       "BB.r..cC.-......" /* c0 */
			       "gggg............" /* d0 */
			       "........kJ.i...." /* e0 */
			       "......tT......xX" /* f0 */;

/*
 * As above, for opcodes after 0f. Classes m and s are valid with and without 66. Class S is also
 * valid with F3 and F2, and q with F3. Class 6 requires 66. Classes u and p are s and S with an
 * immediate of 1 byte. Class n is a nop, /0. Class j has 4 bytes.
 */
static const char two_byte[] = "................" /* 00 */
			       "SS..ss.........n" /* 10 */
			       "........ssS.SSss" /* 20 */
			       "................" /* 30 */
			       "mmmmmmmmmmmmmmmm" /* 40 */
			       ".S..ssssSSS.SSSS" /* 50 */
			       "ssssssssssss66sq" /* 60 */
			       "p...sss........q" /* 70 */
			       "jjjjjjjjjjjjjjjj" /* 80 */
			       "mmmmmmmmmmmmmmmm" /* 90 */
			       "...m...........m" /* a0 */
			       "......mm......mm" /* b0 */
			       "......u........." /* c0 */
			       "....s.6...ss..ss" /* d0 */
			       "...........s...s" /* e0 */
			       "........ssssssss" /* f0 */;

/* State of reading one instruction. */
struct reading {
	const uint8_t *bytes;
	size_t at, len; /* at may exceed len */
	bool p66, f2, f3, rex_w;
	uint8_t mod, reg;
};

static uint8_t next_insn_byte(struct reading *r)
{
	const size_t at = r->at++;

	return at < r->len ? r->bytes[at] : 0;
}

static size_t imm_z(const struct reading *r)
{
	return r->p66 && !r->rex_w ? 2 : 4;
}

/* Read ModRM with its SIB byte and displacement (SDM vol. 2, tables 2-2 and 2-3). */
static void read_modrm(struct reading *r)
{
	const uint8_t modrm = next_insn_byte(r);
	uint8_t rm = modrm & 7;

	r->mod = modrm >> 6;
	r->reg = modrm >> 3 & 7;
	if (r->mod == 3)
		return;
	if (rm == 4)
		rm = next_insn_byte(r) & 7;
	if (r->mod == 1)
		r->at += 1;
	else if (r->mod == 2 || rm == 5)
		r->at += 4;
}

/* Finish a direct branch whose displacement has @n bytes and is the last part. */
static bool direct(struct reading *r, size_t n, enum ptc_kind kind, uint64_t ip,
		   struct ptc_insn *ret)
{
	int64_t by;
	int32_t by4;

	if (r->p66 || r->at + n > r->len)
		return false;
	memcpy(&by4, r->bytes + r->at, n == 4 ? sizeof(by4) : 0);
	by = n == 4 ? by4 : (int8_t)r->bytes[r->at];
	r->at += n;
	ret->kind = (uint8_t)kind;
	ret->direct = true;
	ret->target = ip + r->at + (uint64_t)by;
	return true;
}

static bool jcc(struct reading *r, size_t n, uint8_t opcode, uint64_t ip, struct ptc_insn *ret)
{
	ret->cond = opcode & 0xf;
	ret->count_bits = 64;
	return direct(r, n, PTC_KIND_JCC, ip, ret);
}

/* Opcode ff. */
static bool group_5(struct reading *r, struct ptc_insn *ret)
{
	read_modrm(r);
	if (r->reg == 2 || r->reg == 4)
		ret->kind = r->reg == 2 ? PTC_KIND_ICALL : PTC_KIND_IJMP;
	return r->reg < 2 || r->reg == 6 || (ret->kind != PTC_KIND_NONE && !r->p66);
}

static bool group(struct reading *r, char what)
{
	read_modrm(r);
	switch (what) {
	case 'B':
		r->at++;
		return r->reg != 6;
	case 'g':
		return r->reg != 6;
	case 'c':
		r->at++;
		return !r->reg;
	case 'C':
		r->at += imm_z(r);
		return !r->reg;
	case 't':
		r->at += !r->reg;
		return r->reg != 1;
	case 'T':
		r->at += r->reg ? 0 : imm_z(r);
		return r->reg != 1;
	default: /* x */
		return r->reg < 2;
	}
}

static bool transfer(struct reading *r, char what, uint8_t opcode, uint64_t ip,
		     struct ptc_insn *ret)
{
	switch (what) {
	case 'j':
		return jcc(r, 1, opcode, ip, ret);
	case 'J':
		return direct(r, 4, PTC_KIND_JMP, ip, ret);
	case 'i':
		return direct(r, 1, PTC_KIND_JMP, ip, ret);
	case 'k':
		return direct(r, 4, PTC_KIND_CALL, ip, ret);
	case 'r':
		ret->kind = PTC_KIND_RET;
		return !r->p66;
	default: /* X */
		return group_5(r, ret);
	}
}

static bool one(struct reading *r, uint8_t opcode, uint64_t ip, struct ptc_insn *ret)
{
	const char what = one_byte[opcode];

	if (r->f2 || r->f3)
		return false;
	switch (what) {
	case '.':
		return false;
	case '-':
		return true;
	case '8':
		r->at++;
		return true;
	case 'z':
		r->at += imm_z(r);
		return true;
	case 'v':
		r->at += r->rex_w ? 8 : imm_z(r);
		return true;
	case 'm':
		read_modrm(r);
		return true;
	case 'l':
		read_modrm(r);
		return r->mod != 3;
	case 'b':
		read_modrm(r);
		r->at++;
		return true;
	case 'd':
		read_modrm(r);
		r->at += imm_z(r);
		return true;
	case 'j':
	case 'J':
	case 'i':
	case 'k':
	case 'r':
	case 'X':
		return transfer(r, what, opcode, ip, ret);
	default:
		return group(r, what);
	}
}

/*
 * Return whether the prefixes are valid for @what. The prefix selects one of several instructions.
 * Two such prefixes are left to Zydis.
 */
static bool has_prefix(const struct reading *r, char what)
{
	switch (what) {
	case 'S':
	case 'p':
		return r->p66 + r->f2 + r->f3 <= 1;
	case 'q':
		return !r->f2 && r->p66 + r->f3 <= 1;
	case '6':
		return r->p66 && !r->f2 && !r->f3;
	default:
		return !r->f2 && !r->f3;
	}
}

static bool two(struct reading *r, uint64_t ip, struct ptc_insn *ret)
{
	const uint8_t opcode = next_insn_byte(r);
	const char what = two_byte[opcode];

	if (what == '.' || !has_prefix(r, what))
		return false;
	if (what == 'j')
		return jcc(r, 4, opcode, ip, ret);
	read_modrm(r);
	r->at += what == 'u' || what == 'p';
	return what != 'n' || !r->reg;
}

static bool is_endbr64(const uint8_t *bytes, size_t len)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return len >= sizeof(endbr64) && !memcmp(bytes, endbr64, sizeof(endbr64));
}

/* Read prefixes, each at most once, and a REX after them. Returns the first byte of the opcode. */
static uint8_t read_prefixes(struct reading *r)
{
	uint8_t b = next_insn_byte(r);

	for (;; b = next_insn_byte(r)) {
		bool *const seen = b == 0x66 ? &r->p66 :
				   b == 0xf2 ? &r->f2 :
				   b == 0xf3 ? &r->f3 :
					       NULL;

		if (!seen || *seen)
			break;
		*seen = true;
	}
	if (b >> 4 != 4)
		return b;
	r->rex_w = b >> 3 & 1;
	return next_insn_byte(r);
}

bool ptc_insn_plain(const uint8_t *bytes, size_t len, uint64_t ip, struct ptc_insn *ret)
{
	struct reading r = { .bytes = bytes, .len = len < PTC_INSN_MAX ? len : PTC_INSN_MAX };
	struct ptc_insn in = { .kind = PTC_KIND_NONE, .cond = PTC_COND_NONE };
	uint8_t b;

	if (is_endbr64(bytes, len)) {
		r.at = 4;
	} else {
		b = read_prefixes(&r);
		if (!(b == 0x0f ? two(&r, ip, &in) : one(&r, b, ip, &in)) || r.at > r.len)
			return false;
	}
	in.len = (uint8_t)r.at;
	*ret = in;
	return true;
}
