/* SPDX-License-Identifier: MIT */
/*
 * Description: a signal handler's frame is found on an alternate stack. Other memory is not taken
 * for a frame.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "arch/sigframe.h"

enum { LEN = 512, AT = 64, UC_SP = 16, UC_SIZE = 32, UC_REGS = 40, REG_SP = 15, REG_CS = 18 };

static const uint64_t stack = 0x10000, below = 0x20000;

static void put(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* Returns memory at the begin of the stack, with a frame in it. Caller frees it. */
static uint8_t *frame(void)
{
	uint8_t *bytes = calloc(1, LEN);

	cr_assert_not_null(bytes);
	put(bytes + AT + UC_SP, stack);
	put(bytes + AT + UC_SIZE, LEN);
	put(bytes + AT + UC_REGS + (size_t)REG_SP * 8, below);
	put(bytes + AT + UC_REGS + (size_t)REG_CS * 8, 0x33);
	return bytes;
}

Test(sigframe, of_a_handler_on_an_alternate_stack_the_interrupted_stack_is_found)
{
	uint8_t *bytes = frame();
	uint64_t sp = 0;

	cr_assert(ptc_sigframe_find(bytes, LEN, stack, stack, &sp));
	cr_assert_eq(sp, below);
	free(bytes);
}

Test(sigframe, of_memory_that_is_cut_anywhere_in_it_none_is_found)
{
	uint8_t *bytes = frame();
	uint64_t sp = 7;
	size_t n;

	for (n = 0; n < AT + UC_REGS + (REG_CS + 1) * 8; n++) {
		uint8_t *part = malloc(n ? n : 1);

		cr_assert_not_null(part);
		memcpy(part, bytes, n);
		cr_assert_not(ptc_sigframe_find(part, n, stack, stack, &sp));
		free(part);
	}
	cr_assert_eq(sp, 7);
	free(bytes);
}

Test(sigframe, a_frame_whose_stack_is_another_one_or_that_interrupted_itself_is_none)
{
	uint8_t *bytes = frame();
	uint64_t sp;

	put(bytes + AT + UC_SP, stack + 0x100000);
	cr_assert_not(ptc_sigframe_find(bytes, LEN, stack, stack, &sp));
	put(bytes + AT + UC_SP, stack);
	put(bytes + AT + UC_REGS + (size_t)REG_SP * 8, stack + 8);
	cr_assert_not(ptc_sigframe_find(bytes, LEN, stack, stack, &sp));
	free(bytes);
}
