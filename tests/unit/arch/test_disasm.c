/* SPDX-License-Identifier: MIT */
/* Description: disassembly: bytes to text. */
#include <criterion/criterion.h>

#include "arch/disasm.h"

static void expect(const char *bytes, size_t len, const char *want)
{
	char text[PTC_DISASM_MAX];

	ptc_disasm(PTC_MODE_64, (const uint8_t *)bytes, len, 0x401000, text);
	cr_assert_str_eq(text, want, "'%s', not '%s'", text, want);
}

#define EXPECT(bytes, want) expect(bytes, sizeof(bytes) - 1, want)

Test(disasm, in_small_letters_and_with_absolute_targets)
{
	EXPECT("\x90", "nop");
	EXPECT("\xe8\x1b\x00\x00\x00", "call 0x401020");
	EXPECT("\x74\xfe", "jz 0x401000");
	EXPECT("\x48\xc7\xc0\x0f\x00\x00\x00", "mov rax, 0xf");
	EXPECT("\x48\x8b\x44\x24\xd8", "mov rax, [rsp-0x28]");
	EXPECT("\x48\x8b\x05\x10\x00\x00\x00", "mov rax, [0x401017]");
	EXPECT("\xc3", "ret");
}

/* An opcode that VEX map 2 does not define yet, and a possible future instruction in EVEX map 7. */
Test(disasm, what_is_newer_than_the_disassembler_is_unknown)
{
	EXPECT("\xc4\xe2\x7a\xff\x00", "(unknown)");
	EXPECT("\x62\xf7\x7f\x08\xf8\xc0\x12\x00\x00\x00", "(unknown)");
	EXPECT("\xc4\xe2\x7a\xff\x00\x90", "(bad)"); /* more than one instruction */
}

Test(disasm, what_is_none)
{
	EXPECT("", "(bad)");
	EXPECT("\x0f", "(bad)");
	EXPECT("\x06", "(bad)");
}
