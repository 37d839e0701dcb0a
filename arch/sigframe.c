/* SPDX-License-Identifier: MIT */
#include "arch/sigframe.h"

#include <string.h>

#include "base/cursor.h"

/*
 * Offsets in struct ucontext: arch/x86/include/uapi/asm/sigcontext.h and
 * include/uapi/asm-generic/ucontext.h. The structure is 8 bytes after the start of the frame, which
 * is aligned like a stack at function entry.
 */
enum {
	UC_FLAGS = 0,
	UC_LINK = 8,
	UC_STACK_SP = 16,
	UC_STACK_SIZE = 32,
	UC_RSP = 40 + 15 * 8,
	UC_CS = 40 + 18 * 8,
	UC_END = 40 + 32 * 8,
	UC_FLAGS_ALL = 7,
	USER_CS = 0x33,
};

static uint64_t word(const uint8_t *uc, size_t off)
{
	return ptc_le64(uc + off);
}

static bool is_on(uint64_t sp, uint64_t start, uint64_t size)
{
	return sp >= start && sp - start < size;
}

bool ptc_sigframe_find(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t sp,
		       uint64_t *ret_sp)
{
	size_t at;

	for (at = (size_t)(-addr & 7); at <= len && len - at >= UC_END; at += 8) {
		const uint8_t *uc = bytes + at;
		const uint64_t start = word(uc, UC_STACK_SP), size = word(uc, UC_STACK_SIZE);

		if (addr + at < sp || word(uc, UC_LINK) || word(uc, UC_FLAGS) > UC_FLAGS_ALL ||
		    (word(uc, UC_CS) & 0xffff) != USER_CS || !is_on(sp, start, size) ||
		    !is_on(addr + at, start, size) || is_on(word(uc, UC_RSP), start, size))
			continue;
		*ret_sp = word(uc, UC_RSP);
		return true;
	}
	return false;
}

void ptc_sigframe_registers(const uint8_t context[PTC_SIGFRAME_CONTEXT],
			    uint64_t ret[PTC_SIGFRAME_REGS])
{
	/* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	static const uint8_t dwarf[PTC_SIGFRAME_REGS] = { 8, 9, 10, 11, 12, 13, 14, 15, 5,
							  4, 6, 3,  1,	0,  2,	7,  16 };
	size_t i;

	for (i = 0; i < PTC_SIGFRAME_REGS; i++)
		ret[dwarf[i]] = word(context, 40 + i * 8);
}

bool ptc_sigframe_is_return(const uint8_t *code, size_t len)
{
	static const uint8_t bytes[PTC_SIGFRAME_RETURN] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
							    0,	  0,	0x0f, 0x05 };

	return len >= sizeof(bytes) && !memcmp(code, bytes, sizeof(bytes));
}
