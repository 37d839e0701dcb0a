/* SPDX-License-Identifier: MIT */
/* Description: the fast decoder ptc_insn_plain agrees with Zydis. */
#include <criterion/criterion.h>
#include <string.h>

#include "arch/insn_plain.h"

enum { IP = 0x401000 };

/* Number of instructions tried, and number recognised by the fast decoder. */
static struct {
	size_t all, plain;
} seen;

static uint64_t random_state = 1;

static uint8_t random_byte(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (uint8_t)(random_state >> 56);
}

static void compare(const uint8_t *bytes, size_t len, size_t opcode)
{
	struct ptc_insn is, says;
	size_t n;

	seen.all++;
	if (!ptc_insn_plain(bytes, len, IP, &is))
		return;
	seen.plain++;
	cr_assert_eq(ptc_insn_decode_any(PTC_MODE_64, bytes, len, IP, &says), PTC_INSN_OK,
		     "opcode at %zu of %02x %02x %02x %02x %02x", opcode, bytes[0], bytes[1],
		     bytes[2], bytes[3], bytes[4]);
	cr_assert(is.len == says.len && is.kind == says.kind && is.cond == says.cond &&
			  is.count_bits == says.count_bits && is.direct == says.direct &&
			  is.rep == says.rep && is.shadow == says.shadow &&
			  is.pushes_flags == says.pushes_flags &&
			  is.loads_flags == says.loads_flags && is.target == says.target,
		  "%02x %02x %02x %02x %02x: len %d, not %d; kind %d, not %d", bytes[0], bytes[1],
		  bytes[2], bytes[3], bytes[4], is.len, says.len, is.kind, says.kind);
	for (n = 0; n < says.len; n++)
		cr_assert_not(ptc_insn_plain(bytes, n, IP, &is), "%zu bytes of %d", n, says.len);
}

/* Tries all ModRM bytes, with registers of each kind, behind the opcode at @at. */
static void each_modrm(uint8_t *bytes, size_t at)
{
	static const uint8_t rm[] = { 0, 1, 4, 5 };
	size_t i, modreg, tail;

	for (modreg = 0; modreg < 32; modreg++)
		for (i = 0; i < sizeof(rm); i++) {
			bytes[at + 1] = (uint8_t)(modreg << 3 | rm[i]);
			for (tail = at + 2; tail < PTC_INSN_MAX; tail++)
				bytes[tail] = random_byte();
			compare(bytes, PTC_INSN_MAX, at);
		}
}

static void each_opcode(const uint8_t *prefixes, size_t n)
{
	uint8_t bytes[PTC_INSN_MAX] = { 0 };
	size_t opcode;

	memcpy(bytes, prefixes, n);
	for (opcode = 0; opcode < 256; opcode++) {
		bytes[n] = (uint8_t)opcode;
		each_modrm(bytes, n);
		bytes[n] = 0x0f;
		bytes[n + 1] = (uint8_t)opcode;
		each_modrm(bytes, n + 1);
	}
}

Test(insn_plain, is_what_zydis_says)
{
	static const uint8_t legacy[][2] = { { 0 },	     { 0x66 },	     { 0xf2 },
					     { 0xf3 },	     { 0x66, 0xf2 }, { 0xf3, 0x66 },
					     { 0xf2, 0xf3 }, { 0x66, 0x66 }, { 0x64 },
					     { 0xf0 },	     { 0x67 } };
	static const uint8_t rex[] = { 0, 0x40, 0x41, 0x48, 0x4f };
	size_t i, k;

	for (i = 0; i < sizeof(legacy) / sizeof(*legacy); i++)
		for (k = 0; k < sizeof(rex); k++) {
			uint8_t prefixes[3];
			size_t n = strnlen((const char *)legacy[i], 2);

			memcpy(prefixes, legacy[i], n);
			prefixes[n] = rex[k];
			each_opcode(prefixes, n + (rex[k] != 0));
		}
	/* Most prefixes make no plain instruction. */
	cr_expect_gt(seen.plain, seen.all / 16, "%zu of %zu", seen.plain, seen.all);
}

/* In 512 bytes of this program's own code, over 80 % of the instructions must be plain. */
Test(insn_plain, most_of_a_program_is_plain)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)ptc_insn_plain;
	size_t at = 0, n = 0, plain = 0;
	struct ptc_insn in;

	for (; at < 512; at += in.len, n++) {
		plain += ptc_insn_plain(code + at, PTC_INSN_MAX, IP, &in);
		cr_assert_eq(ptc_insn_decode_any(PTC_MODE_64, code + at, PTC_INSN_MAX, IP, &in),
			     PTC_INSN_OK);
	}
	cr_expect_gt(plain * 10, n * 8, "%zu of %zu", plain, n);
}

Test(insn_plain, a_branch_back_and_over_the_end_of_all)
{
	static const uint8_t back[] = { 0xe9, 0xfb, 0xff, 0xff, 0xff }, on[] = { 0xeb, 0x7f };
	struct ptc_insn in;

	cr_assert(ptc_insn_plain(back, sizeof(back), IP, &in));
	cr_expect_eq(in.target, IP);
	cr_assert(ptc_insn_plain(on, sizeof(on), UINT64_MAX, &in));
	cr_expect_eq(in.target, 0x80);
}
