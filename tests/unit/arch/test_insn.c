/* SPDX-License-Identifier: MIT */
/* Description: class, length and target of instructions, from bytes in the SDM's encodings. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"

#define IP 0x401000ull

struct insn_case {
	const char *text;
	enum ptc_mode mode;
	uint8_t len;
	uint8_t bytes[PTC_INSN_MAX];
	enum ptc_kind kind;
	uint64_t target; /* 0: not a direct branch */
	bool rep;
};

/* clang-format off */
static const struct insn_case cases[] = {
	/* no branches */
	{ "nop",		PTC_MODE_64, 1, { 0x90 }, PTC_KIND_NONE, 0, false },
	{ "endbr64",		PTC_MODE_64, 4, { 0xf3, 0x0f, 0x1e, 0xfa }, PTC_KIND_NONE, 0, false },
	{ "mov rax,imm64",	PTC_MODE_64, 10, { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, PTC_KIND_NONE, 0, false },
	{ "lea rax,[rip+8]",	PTC_MODE_64, 7, { 0x48, 0x8d, 0x05, 8, 0, 0, 0 }, PTC_KIND_NONE, 0, false },
	{ "cmove eax,ecx",	PTC_MODE_64, 3, { 0x0f, 0x44, 0xc1 }, PTC_KIND_NONE, 0, false },
	{ "vaddps ymm",		PTC_MODE_64, 4, { 0xc5, 0xfc, 0x58, 0xc1 }, PTC_KIND_NONE, 0, false },
	{ "vaddps zmm",		PTC_MODE_64, 6, { 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1 }, PTC_KIND_NONE, 0, false },
	{ "hlt",		PTC_MODE_64, 1, { 0xf4 }, PTC_KIND_NONE, 0, false },
	{ "ud2",		PTC_MODE_64, 2, { 0x0f, 0x0b }, PTC_KIND_NONE, 0, false },
	{ "cpuid",		PTC_MODE_64, 2, { 0x0f, 0xa2 }, PTC_KIND_NONE, 0, false },
	{ "15 bytes",		PTC_MODE_64, 15, { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90 }, PTC_KIND_NONE, 0, false },
	/* transactions: XBEGIN continues with the next instruction, an abort is asynchronous */
	{ "xbegin +0x10",	PTC_MODE_64, 6, { 0xc7, 0xf8, 0x10, 0, 0, 0 }, PTC_KIND_NONE, 0, false },
	{ "xend",		PTC_MODE_64, 3, { 0x0f, 0x01, 0xd5 }, PTC_KIND_NONE, 0, false },
	{ "xabort 1",		PTC_MODE_64, 3, { 0xc6, 0xf8, 1 }, PTC_KIND_NONE, 0, false },
	/* string instructions */
	{ "movsb",		PTC_MODE_64, 1, { 0xa4 }, PTC_KIND_NONE, 0, false },
	{ "rep movsb",		PTC_MODE_64, 2, { 0xf3, 0xa4 }, PTC_KIND_NONE, 0, true },
	{ "rep stosq",		PTC_MODE_64, 3, { 0xf3, 0x48, 0xab }, PTC_KIND_NONE, 0, true },
	{ "rep lodsb",		PTC_MODE_64, 2, { 0xf3, 0xac }, PTC_KIND_NONE, 0, true },
	{ "repe cmpsb",		PTC_MODE_64, 2, { 0xf3, 0xa6 }, PTC_KIND_NONE, 0, true },
	{ "repne scasb",	PTC_MODE_64, 2, { 0xf2, 0xae }, PTC_KIND_NONE, 0, true },
	{ "rep outsb",		PTC_MODE_64, 2, { 0xf3, 0x6e }, PTC_KIND_NONE, 0, true },
	{ "rep insb",		PTC_MODE_64, 2, { 0xf3, 0x6c }, PTC_KIND_NONE, 0, true },
	{ "pause",		PTC_MODE_64, 2, { 0xf3, 0x90 }, PTC_KIND_NONE, 0, false },
	{ "movss xmm",		PTC_MODE_64, 4, { 0xf3, 0x0f, 0x10, 0xc1 }, PTC_KIND_NONE, 0, false },
	/* jcc, loops and jrcxz */
	{ "je +0",		PTC_MODE_64, 2, { 0x74, 0 }, PTC_KIND_JCC, IP + 2, false },
	{ "je -2",		PTC_MODE_64, 2, { 0x74, 0xfe }, PTC_KIND_JCC, IP, false },
	{ "bnd je +5",		PTC_MODE_64, 3, { 0xf2, 0x74, 5 }, PTC_KIND_JCC, IP + 8, false },
	{ "jg near",		PTC_MODE_64, 6, { 0x0f, 0x8f, 0, 1, 0, 0 }, PTC_KIND_JCC, IP + 0x106, false },
	{ "loopne",		PTC_MODE_64, 2, { 0xe0, 3 }, PTC_KIND_JCC, IP + 5, false },
	{ "loope",		PTC_MODE_64, 2, { 0xe1, 3 }, PTC_KIND_JCC, IP + 5, false },
	{ "loop",		PTC_MODE_64, 2, { 0xe2, 0xfc }, PTC_KIND_JCC, IP - 2, false },
	{ "jrcxz",		PTC_MODE_64, 2, { 0xe3, 0x7f }, PTC_KIND_JCC, IP + 0x81, false },
	{ "jecxz",		PTC_MODE_64, 3, { 0x67, 0xe3, 0x10 }, PTC_KIND_JCC, IP + 0x13, false },
	/* jumps */
	{ "jmp short",		PTC_MODE_64, 2, { 0xeb, 0x80 }, PTC_KIND_JMP, IP + 2 - 128, false },
	{ "jmp near",		PTC_MODE_64, 5, { 0xe9, 0xfb, 0xff, 0xff, 0xff }, PTC_KIND_JMP, IP, false },
	{ "bnd jmp near",	PTC_MODE_64, 6, { 0xf2, 0xe9, 0, 0, 0, 0 }, PTC_KIND_JMP, IP + 6, false },
	{ "jmp rax",		PTC_MODE_64, 2, { 0xff, 0xe0 }, PTC_KIND_IJMP, 0, false },
	{ "notrack jmp rax",	PTC_MODE_64, 3, { 0x3e, 0xff, 0xe0 }, PTC_KIND_IJMP, 0, false },
	{ "jmp [rip+x]",	PTC_MODE_64, 6, { 0xff, 0x25, 1, 2, 3, 4 }, PTC_KIND_IJMP, 0, false },
	{ "jmp [rax*8+x]",	PTC_MODE_64, 7, { 0xff, 0x24, 0xc5, 1, 2, 3, 0 }, PTC_KIND_IJMP, 0, false },
	{ "jmp far [rax]",	PTC_MODE_64, 2, { 0xff, 0x28 }, PTC_KIND_FAR, 0, false },
	/* calls and returns */
	{ "call near",		PTC_MODE_64, 5, { 0xe8, 0, 0, 1, 0 }, PTC_KIND_CALL, IP + 0x10005, false },
	{ "call +0",		PTC_MODE_64, 5, { 0xe8, 0, 0, 0, 0 }, PTC_KIND_CALL, IP + 5, false },
	{ "call rax",		PTC_MODE_64, 2, { 0xff, 0xd0 }, PTC_KIND_ICALL, 0, false },
	{ "call r11",		PTC_MODE_64, 3, { 0x41, 0xff, 0xd3 }, PTC_KIND_ICALL, 0, false },
	{ "call [rip+x]",	PTC_MODE_64, 6, { 0xff, 0x15, 1, 2, 3, 4 }, PTC_KIND_ICALL, 0, false },
	{ "addr32 call near",	PTC_MODE_64, 6, { 0x67, 0xe8, 1, 0, 0, 0 }, PTC_KIND_CALL, IP + 7, false },
	{ "call far [rax]",	PTC_MODE_64, 2, { 0xff, 0x18 }, PTC_KIND_FAR, 0, false },
	{ "ret",		PTC_MODE_64, 1, { 0xc3 }, PTC_KIND_RET, 0, false },
	{ "rep ret",		PTC_MODE_64, 2, { 0xf3, 0xc3 }, PTC_KIND_RET, 0, false },
	{ "bnd ret",		PTC_MODE_64, 2, { 0xf2, 0xc3 }, PTC_KIND_RET, 0, false },
	{ "ret 8",		PTC_MODE_64, 3, { 0xc2, 8, 0 }, PTC_KIND_RET, 0, false },
	{ "retf",		PTC_MODE_64, 1, { 0xcb }, PTC_KIND_FAR, 0, false },
	{ "retf 8",		PTC_MODE_64, 3, { 0xca, 8, 0 }, PTC_KIND_FAR, 0, false },
	/* kernel entries and returns */
	{ "syscall",		PTC_MODE_64, 2, { 0x0f, 0x05 }, PTC_KIND_SYSCALL, 0, false },
	{ "sysenter",		PTC_MODE_64, 2, { 0x0f, 0x34 }, PTC_KIND_SYSCALL, 0, false },
	{ "sysretq",		PTC_MODE_64, 3, { 0x48, 0x0f, 0x07 }, PTC_KIND_SYSRET, 0, false },
	{ "sysexit",		PTC_MODE_64, 2, { 0x0f, 0x35 }, PTC_KIND_SYSRET, 0, false },
	{ "int 0x80",		PTC_MODE_64, 2, { 0xcd, 0x80 }, PTC_KIND_INT, 0, false },
	{ "int3",		PTC_MODE_64, 1, { 0xcc }, PTC_KIND_INT, 0, false },
	{ "int1",		PTC_MODE_64, 1, { 0xf1 }, PTC_KIND_INT, 0, false },
	{ "iretq",		PTC_MODE_64, 2, { 0x48, 0xcf }, PTC_KIND_IRET, 0, false },
	{ "iretd",		PTC_MODE_64, 1, { 0xcf }, PTC_KIND_IRET, 0, false },
	{ "vmlaunch",		PTC_MODE_64, 3, { 0x0f, 0x01, 0xc2 }, PTC_KIND_FAR, 0, false },
	{ "vmresume",		PTC_MODE_64, 3, { 0x0f, 0x01, 0xc3 }, PTC_KIND_FAR, 0, false },
	{ "vmcall",		PTC_MODE_64, 3, { 0x0f, 0x01, 0xc1 }, PTC_KIND_FAR, 0, false },
	/*
	 * 32 and 16 bits: other lengths, other instructions, targets truncated to the operand width
	 */
	{ "32: into",		PTC_MODE_32, 1, { 0xce }, PTC_KIND_INT, 0, false },
	{ "32: iret",		PTC_MODE_32, 1, { 0xcf }, PTC_KIND_IRET, 0, false },
	{ "32: jmp far imm",	PTC_MODE_32, 7, { 0xea, 1, 2, 3, 4, 5, 0 }, PTC_KIND_FAR, 0, false },
	{ "32: call far imm",	PTC_MODE_32, 7, { 0x9a, 1, 2, 3, 4, 5, 0 }, PTC_KIND_FAR, 0, false },
	{ "32: jmp near",	PTC_MODE_32, 5, { 0xe9, 0, 0, 0, 0x80 }, PTC_KIND_JMP, 0x80401005, false },
	{ "32: jmp wraps",	PTC_MODE_32, 5, { 0xe9, 0, 0, 0xc0, 0xff }, PTC_KIND_JMP, 0x1005, false },
	{ "32: jmp below 0",	PTC_MODE_32, 5, { 0xe9, 0, 0, 0, 0xff }, PTC_KIND_JMP, 0xff401005, false },
	{ "32: jecxz",		PTC_MODE_32, 2, { 0xe3, 1 }, PTC_KIND_JCC, IP + 3, false },
	{ "32: jcxz",		PTC_MODE_32, 3, { 0x67, 0xe3, 1 }, PTC_KIND_JCC, IP + 4, false },
	{ "32: inc eax (a REX in 64)", PTC_MODE_32, 1, { 0x40 }, PTC_KIND_NONE, 0, false },
	{ "16: jmp near",	PTC_MODE_16, 3, { 0xe9, 0, 0x10 }, PTC_KIND_JMP, 0x2003, false },
	{ "16: int",		PTC_MODE_16, 2, { 0xcd, 0x10 }, PTC_KIND_INT, 0, false },
};
/* clang-format on */

#define EACH_CASE(c)                                                                               \
	(c) = cases;                                                                               \
	(c) < cases + sizeof(cases) / sizeof(cases[0]);                                            \
	(c)++

Test(insn, every_class_has_its_kind_length_and_target)
{
	const struct insn_case *c;
	struct ptc_insn in;

	for (EACH_CASE(c)) {
		cr_assert_eq(ptc_insn_decode(c->mode, c->bytes, c->len, IP, &in), PTC_INSN_OK, "%s",
			     c->text);
		cr_assert_eq(in.len, c->len, "%s: %u bytes", c->text, in.len);
		cr_assert_str_eq(ptc_kind_name(in.kind), ptc_kind_name(c->kind), "%s is %s",
				 c->text, ptc_kind_name(in.kind));
		cr_assert_eq(in.direct, c->target != 0, "%s", c->text);
		cr_assert_eq(in.target, c->target, "%s goes to %lx", c->text, in.target);
		cr_assert_eq(in.rep, c->rep, "%s", c->text);
		cr_assert_eq(in.cond != PTC_COND_NONE, c->kind == PTC_KIND_JCC, "%s", c->text);
	}
}

Test(insn, a_cut_instruction_is_short)
{
	const struct insn_case *c;
	struct ptc_insn in;
	uint8_t len;

	for (EACH_CASE(c))
		for (len = 0; len < c->len; len++) {
			uint8_t *p = malloc(len ? len : 1);

			memcpy(p, c->bytes, len);
			cr_assert_eq(ptc_insn_decode(c->mode, p, len, IP, &in), PTC_INSN_SHORT,
				     "%s cut to %u", c->text, len);
			free(p);
		}
}

Test(insn, bytes_behind_the_instruction_do_not_matter)
{
	const struct insn_case *c;
	struct ptc_insn in;

	for (EACH_CASE(c)) {
		uint8_t bytes[PTC_INSN_MAX];

		memset(bytes, 0xff, sizeof(bytes));
		memcpy(bytes, c->bytes, c->len);
		cr_assert_eq(ptc_insn_decode(c->mode, bytes, sizeof(bytes), IP, &in), PTC_INSN_OK);
		cr_assert_eq(in.len, c->len, "%s", c->text);
	}
}

Test(insn, what_is_no_instruction_is_bad)
{
	static const struct {
		uint8_t len, bytes[16];
	} bad[] = {
		{ 1, { 0x06 } }, /* push es: invalid in 64-bit mode */
		{ 1, { 0xce } }, /* into */
		{ 7, { 0xea, 1, 2, 3, 4, 5, 6 } },
		{ 2, { 0xff, 0xff } }, /* ff /7 */
		{ 15,
		  { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		    0x66, 0x66 } }, /* a sixteenth byte would exceed the limit */
	};
	struct ptc_insn in = { .len = 99 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(ptc_insn_decode(PTC_MODE_64, bad[i].bytes, bad[i].len, IP, &in),
			     PTC_INSN_BAD, "%zu", i);
		cr_assert_eq(in.len, 99, "results are written on success only");
	}
}

Test(insn, who_stores_and_who_loads_the_flags)
{
	static const struct {
		uint8_t len, bytes[3];
		bool pushes, loads;
	} all[] = {
		{ 1, { 0x9c }, true, false },	    { 2, { 0x66, 0x9c }, true, false },
		{ 2, { 0x48, 0x9c }, true, false }, { 1, { 0x9d }, false, true },
		{ 2, { 0x66, 0x9d }, false, true }, { 2, { 0x48, 0x9d }, false, true },
		{ 1, { 0xcf }, false, true },	    { 2, { 0x48, 0xcf }, false, true },
		{ 1, { 0x9e }, false, false }, /* sahf changes no flag above bit 7 */
		{ 1, { 0x9f }, false, false },	    { 1, { 0x50 }, false, false },
	};
	struct ptc_insn in;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cr_assert_eq(ptc_insn_decode(PTC_MODE_64, all[i].bytes, all[i].len, IP, &in),
			     PTC_INSN_OK, "%zu", i);
		cr_assert_eq(in.pushes_flags, all[i].pushes, "%zu", i);
		cr_assert_eq(in.loads_flags, all[i].loads, "%zu", i);
	}
	cr_assert_eq(ptc_insn_decode(PTC_MODE_32, all[0].bytes, 1, IP, &in), PTC_INSN_OK);
	cr_assert(in.pushes_flags, "pushfd");
	cr_assert_eq(ptc_insn_decode(PTC_MODE_32, all[3].bytes, 1, IP, &in), PTC_INSN_OK);
	cr_assert(in.loads_flags, "popfd");
}

Test(insn, targets_wrap_at_the_top_of_the_address_space)
{
	static const uint8_t jmp[] = { 0xeb, 0x10 };
	struct ptc_insn in;

	cr_assert_eq(ptc_insn_decode(PTC_MODE_64, jmp, 2, -8ull, &in), PTC_INSN_OK);
	cr_assert_eq(in.target, 10);
}

/*
 * Returns whether a jcc with the condition @cond is taken, by the flags in the SDM (vol. 1, table
 * 7-4).
 */
static bool jcc_by_the_book(unsigned int cond, bool cf, bool pf, bool zf, bool sf, bool of)
{
	switch (cond) {
	case 0x0:
		return of;
	case 0x1:
		return !of;
	case 0x2: /* b, c, nae */
		return cf;
	case 0x3:
		return !cf;
	case 0x4: /* e, z */
		return zf;
	case 0x5:
		return !zf;
	case 0x6: /* be, na */
		return cf || zf;
	case 0x7: /* a */
		return !cf && !zf;
	case 0x8:
		return sf;
	case 0x9:
		return !sf;
	case 0xa: /* p, pe */
		return pf;
	case 0xb:
		return !pf;
	case 0xc: /* l, nge */
		return sf != of;
	case 0xd: /* ge */
		return sf == of;
	case 0xe: /* le, ng */
		return zf || sf != of;
	default: /* g */
		return !zf && sf == of;
	}
}

Test(insn, every_condition_under_every_combination_of_flags)
{
	unsigned int cond, f;

	for (cond = 0; cond < 16; cond++)
		for (f = 0; f < 32; f++) {
			const bool cf = f & 1, pf = f & 2, zf = f & 4, sf = f & 8, of = f & 16;
			const uint64_t flags = 0xfffffffffffff72aull | (uint64_t)cf |
					       (uint64_t)pf << 2 | (uint64_t)zf << 6 |
					       (uint64_t)sf << 7 | (uint64_t)of << 11;
			const uint8_t near[6] = { 0x0f, (uint8_t)(0x80 + cond) };
			const uint8_t rel8[2] = { (uint8_t)(0x70 + cond) };
			struct ptc_insn in;

			cr_assert_eq(ptc_insn_decode(PTC_MODE_64, near, 6, IP, &in), PTC_INSN_OK);
			cr_assert_eq(in.cond, cond);
			/* Flags that no condition uses are set too: they must not matter. */
			cr_assert_eq(ptc_insn_taken(&in, flags, 0),
				     jcc_by_the_book(cond, cf, pf, zf, sf, of), "cond %x flags %x",
				     cond, f);
			cr_assert_eq(ptc_insn_decode(PTC_MODE_64, rel8, 2, IP, &in), PTC_INSN_OK);
			cr_assert_eq(in.cond, cond);
		}
}

Test(insn, loops_count_rcx_in_the_width_of_the_address)
{
	static const struct {
		enum ptc_mode mode;
		uint8_t len, bytes[3];
		uint8_t bits;
	} loops[] = {
		{ PTC_MODE_64, 2, { 0xe2, 0 }, 64 }, { PTC_MODE_64, 3, { 0x67, 0xe2, 0 }, 32 },
		{ PTC_MODE_32, 2, { 0xe2, 0 }, 32 }, { PTC_MODE_32, 3, { 0x67, 0xe2, 0 }, 16 },
		{ PTC_MODE_16, 2, { 0xe2, 0 }, 16 },
	};
	const uint64_t zf = 1 << 6;
	size_t i;

	for (i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const uint64_t above = loops[i].bits == 64 ? 0 : 1ull << loops[i].bits;
		uint8_t bytes[3];
		struct ptc_insn in;

		memcpy(bytes, loops[i].bytes, 3);
		cr_assert_eq(ptc_insn_decode(loops[i].mode, bytes, loops[i].len, IP, &in),
			     PTC_INSN_OK);
		cr_assert_eq(in.cond, PTC_COND_LOOP);
		cr_assert_eq(in.count_bits, loops[i].bits, "%zu", i);
		cr_assert_not(ptc_insn_taken(&in, 0, 1), "the last round");
		cr_assert_not(ptc_insn_taken(&in, 0, above + 1), "bits above do not count");
		cr_assert(ptc_insn_taken(&in, 0, 2));
		cr_assert(ptc_insn_taken(&in, 0, 0), "from 0 it goes round the whole width");

		bytes[loops[i].len - 2] = 0xe0; /* loopne */
		cr_assert_eq(ptc_insn_decode(loops[i].mode, bytes, loops[i].len, IP, &in),
			     PTC_INSN_OK);
		cr_assert_eq(in.cond, PTC_COND_LOOPNE);
		cr_assert(ptc_insn_taken(&in, 0, 2));
		cr_assert_not(ptc_insn_taken(&in, zf, 2));
		cr_assert_not(ptc_insn_taken(&in, 0, above + 1));

		bytes[loops[i].len - 2] = 0xe1; /* loope */
		cr_assert_eq(ptc_insn_decode(loops[i].mode, bytes, loops[i].len, IP, &in),
			     PTC_INSN_OK);
		cr_assert_eq(in.cond, PTC_COND_LOOPE);
		cr_assert(ptc_insn_taken(&in, zf, 2));
		cr_assert_not(ptc_insn_taken(&in, 0, 2));
		cr_assert_not(ptc_insn_taken(&in, zf, above + 1));

		bytes[loops[i].len - 2] = 0xe3; /* jrcxz, jecxz, jcxz: no count-down */
		cr_assert_eq(ptc_insn_decode(loops[i].mode, bytes, loops[i].len, IP, &in),
			     PTC_INSN_OK);
		cr_assert_eq(in.cond, PTC_COND_RCXZ);
		cr_assert(ptc_insn_taken(&in, 0, above));
		cr_assert_not(ptc_insn_taken(&in, 0, above + 1));
	}
}

Test(insn, kinds_are_named_as_documented)
{
	static const char *const names[] = { "none",   "start", "async", "jcc", "jmp",
					     "ijmp",   "call",	"icall", "ret", "syscall",
					     "sysret", "int",	"iret",	 "far" };
	unsigned int i;

	cr_assert_eq(sizeof(names) / sizeof(names[0]), PTC_KIND_COUNT);
	for (i = 0; i < PTC_KIND_COUNT; i++)
		cr_assert_str_eq(ptc_kind_name((enum ptc_kind)i), names[i]);
	cr_assert_str_eq(ptc_kind_name(PTC_KIND_COUNT), "?");
}
