/* SPDX-License-Identifier: MIT */
/* Description: the length of instructions that the disassembler does not know yet. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn_unknown.h"

#define LEN(bytes) length(PTC_MODE_64, bytes, sizeof(bytes) - 1)

/*
 * Decodes @text at the end of an allocation, cut at each length. A cut instruction must be refused.
 */
static size_t length(enum ptc_mode mode, const char *text, size_t len)
{
	uint8_t *bytes;
	size_t n, found = 0;

	for (n = 0; n <= len; n++) {
		bytes = malloc(n + !n);
		memcpy(bytes, text, n);
		found = ptc_insn_unknown_len(mode, bytes, n);
		cr_assert(n == len || !found, "of %zu of %zu bytes", n, len);
		free(bytes);
	}
	return found;
}

Test(insn_unknown, all_of_vex_and_evex_have_one_layout)
{
	cr_assert_eq(LEN("\xc4\xe2\x7a\xb1\x00"), 5);			   /* [rax] */
	cr_assert_eq(LEN("\xc4\xe2\x7a\xb1\x40\x08"), 6);		   /* [rax+8] */
	cr_assert_eq(LEN("\xc4\xe2\x7a\xb1\x05\x00\x00\x00\x00"), 9);	   /* [rip] */
	cr_assert_eq(LEN("\xc4\xe2\x7a\xb1\x04\x25\x00\x00\x00\x00"), 10); /* [0] */
	cr_assert_eq(LEN("\xc4\xe2\x7a\xb1\x84\x24\x00\x00\x00\x00"), 10);
	cr_assert_eq(LEN("\xc4\xe3\x7a\xff\xc0\x01"), 6); /* an immediate */
	cr_assert_eq(LEN("\xc5\xf8\x77"), 3);
	cr_assert_eq(LEN("\x62\xf5\x7c\x48\x5a\xc0"), 6);
	cr_assert_eq(LEN("\x62\xf7\x7f\x08\xf8\xc0\x00\x00\x00\x00"), 10);
	cr_assert_eq(LEN("\xf3\x0f\x38\xd8\x00"), 5);
	cr_assert_eq(LEN("\x66\x48\x0f\x3a\xcf\xc0\x01"), 7);
	cr_assert_eq(LEN("\x8f\xe8\x78\x10\xc0\x01"), 6);
}

Test(insn_unknown, nothing_else_is_taken_for_one)
{
	cr_assert_eq(LEN("\x06"), 0);
	cr_assert_eq(LEN("\xc4\x10\x5b\x5d\x41\x5c"), 0, "VEX with a reserved map");
	cr_assert_eq(LEN("\xc4\xe4\x7a\xb1\x00"), 0, "VEX with a reserved map");
	cr_assert_eq(LEN("\x8f\xeb\x78\x10\xc0\x01"), 0, "XOP with a reserved map");
	cr_assert_eq(LEN("\x8f\xc0\x00\x00"), 0, "pop");
	cr_assert_eq(LEN("\x0f\x0b\x00\x00"), 0, "ud2");
	cr_assert_eq(length(PTC_MODE_32, "\xc4\x02\x7a\xb1\x00", 5), 0, "les");
	cr_assert_eq(length(PTC_MODE_32, "\xc4\xe2\x7a\xb1\x00", 5), 5);
	cr_assert_eq(length(PTC_MODE_16, "\xc4\xe2\x7a\xb1\x00", 5), 0);
}
