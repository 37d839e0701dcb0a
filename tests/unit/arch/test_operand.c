/* SPDX-License-Identifier: MIT */
/* Description: the memory and the registers that an instruction uses. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "arch/operand.h"
#include "lib_perfdata.h"

enum { IP = 0x401000 };

/* Gives each register its own value. */
static void fill(uint64_t regs[PTC_REG_COUNT])
{
	size_t i;

	for (i = 0; i < PTC_REG_COUNT; i++)
		regs[i] = 0x100000 * (i + 1);
}

static struct ptc_operands operands(const char *bytes, size_t len)
{
	uint64_t regs[PTC_REG_COUNT];
	struct ptc_operands ops;

	fill(regs);
	cr_assert(ptc_operands_read((const uint8_t *)bytes, len, IP, regs, &ops));
	return ops;
}

static uint64_t reg(size_t i)
{
	return 0x100000 * (i + 1);
}

Test(operand, a_store_through_base_index_and_displacement)
{
	/* mov dword ptr [rbx + rcx * 4 + 0x10], edx */
	const struct ptc_operands ops = operands("\x89\x54\x8b\x10", 4);

	cr_assert(ops.items[0].memory && ops.items[0].writes && !ops.items[0].reads);
	cr_assert_eq(ops.items[0].addr, reg(PTC_REG_RBX) + 4 * reg(PTC_REG_RCX) + 0x10);
	cr_assert_eq(ops.items[0].size, 4);
	cr_assert_eq(ops.regs, 1u << PTC_REG_RBX | 1u << PTC_REG_RCX | 1u << PTC_REG_RDX);
}

Test(operand, a_load_relative_to_the_next_instruction)
{
	/* mov rax, [rip + 0x100] */
	const struct ptc_operands ops = operands("\x48\x8b\x05\x00\x01\x00\x00", 7);

	cr_assert(ops.items[1].memory && ops.items[1].reads && !ops.items[1].writes);
	cr_assert_eq(ops.items[1].addr, IP + 7 + 0x100);
}

Test(operand, a_load_of_thread_local_memory)
{
	/* mov rax, fs:[0x28] */
	const struct ptc_operands ops = operands("\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9);

	cr_assert_eq(ops.items[1].addr, reg(PTC_REG_FS_BASE) + 0x28);
}

Test(operand, pushes_and_calls_store_below_the_stack_pointer)
{
	const struct ptc_operands push = operands("\x55", 1), call = operands("\xff\xd0", 2);
	size_t i, found = 0;

	for (i = 0; i < push.n; i++)
		if (push.items[i].memory && push.items[i].writes)
			found += push.items[i].addr == reg(PTC_REG_RSP) - 8;
	for (i = 0; i < call.n; i++)
		if (call.items[i].memory && call.items[i].writes)
			found += call.items[i].addr == reg(PTC_REG_RSP) - 8;
	cr_assert_eq(found, 2);
}

Test(operand, an_address_that_is_only_computed_is_no_access)
{
	/* lea rax, [rbx + 8] */
	const struct ptc_operands ops = operands("\x48\x8d\x43\x08", 4);
	size_t i;

	for (i = 0; i < ops.n; i++)
		cr_assert_not(ops.items[i].memory);
}

Test(operand, a_divisor_is_cut_to_its_size)
{
	uint64_t regs[PTC_REG_COUNT] = { [PTC_REG_RCX] = 0x7700000000, [PTC_REG_RBX] = 0x1234 };
	struct ptc_operands ops;

	/* idiv ecx; div bh */
	cr_assert(ptc_operands_read((const uint8_t *)"\xf7\xf9", 2, IP, regs, &ops));
	cr_assert(ops.divides && ops.items[0].value == 0 && ops.items[0].size == 4);
	cr_assert(ptc_operands_read((const uint8_t *)"\xf6\xf7", 2, IP, regs, &ops));
	cr_assert(ops.divides && ops.items[0].value == 0x12);
}

Test(operand, undefined_instructions_are_known)
{
	cr_assert(operands("\x0f\x0b", 2).undefined);
	cr_assert_not(operands("\x90", 1).undefined);
}

Test(operand, cut_at_every_length_it_is_none)
{
	static const char whole[] = "\x64\x48\x8b\x04\x25\x28\x00\x00\x00";
	uint64_t regs[PTC_REG_COUNT] = { 0 };
	struct ptc_operands ops;
	size_t len;

	for (len = 0; len < sizeof(whole); len++) {
		uint8_t *bytes = pd_exact((const uint8_t *)whole, len);

		cr_assert_eq(ptc_operands_read(bytes, len, IP, regs, &ops), len == 9, "length %zu",
			     len);
		free(bytes);
	}
}
