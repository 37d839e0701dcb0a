/* SPDX-License-Identifier: MIT */
/* Description: loops of direct jumps and calls are found, and nothing else is taken for a loop. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/calls/silent_loop.h"

enum { BASE = 0x1000 };

struct code {
	const uint8_t *bytes;
	size_t len;
};

static size_t read_code(void *ctx, uint64_t ip, uint8_t *ret, size_t len)
{
	const struct code *c = ctx;
	const size_t at = ip - BASE, n = at < c->len ? c->len - at : 0;

	memcpy(ret, c->bytes + (n ? at : 0), n < len ? n : len);
	return n < len ? n : len;
}

static struct ptc_silent_loop find(const uint8_t *bytes, size_t len, uint64_t through)
{
	struct code c = { bytes, len };

	return ptc_silent_loop_find(read_code, &c, BASE, through);
}

Test(silent_loop, a_loop_closed_by_a_jump_is_found_behind_what_leads_into_it)
{
	/* nop; nop; inc %eax; jmp to the inc */
	static const uint8_t code[] = { 0x90, 0x90, 0xff, 0xc0, 0xeb, 0xfc };
	struct ptc_silent_loop c = find(code, sizeof(code), 0);

	cr_assert_eq(c.insns, 2);
	cr_assert(c.ip == BASE + 2 || c.ip == BASE + 4);
	cr_assert_not(c.calls);
	cr_assert_eq(find(code, sizeof(code), BASE + 4).insns, 2);
	cr_assert_eq(find(code, sizeof(code), BASE + 1).insns, 0, "that is in front of it");
}

Test(silent_loop, recursion_without_a_condition_calls)
{
	/* push %rax; call to the push */
	static const uint8_t code[] = { 0x50, 0xe8, 0xfa, 0xff, 0xff, 0xff };
	const struct ptc_silent_loop c = find(code, sizeof(code), 0);

	cr_assert_eq(c.insns, 2);
	cr_assert(c.calls);
}

Test(silent_loop, what_makes_a_packet_or_ends_is_none)
{
	/* je to itself; jmp back */
	static const uint8_t jcc[] = { 0x74, 0xfe, 0xeb, 0xfc };
	static const uint8_t ret[] = { 0xc3, 0xeb, 0xfd };
	static const uint8_t end[] = { 0x90 };

	cr_assert_eq(find(jcc, sizeof(jcc), 0).insns, 0);
	cr_assert_eq(find(ret, sizeof(ret), 0).insns, 0);
	cr_assert_eq(find(end, sizeof(end), 0).insns, 0);
}
