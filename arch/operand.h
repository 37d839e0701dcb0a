/* SPDX-License-Identifier: MIT */
/*
 * Operands of an instruction and their values, given the registers before its execution. 64-bit
 * code.
 */
#ifndef PTC_ARCH_OPERAND_H
#define PTC_ARCH_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/crash.h"

enum { PTC_OPERANDS_MAX = 10 }; /* ZYDIS_MAX_OPERAND_COUNT */

struct ptc_operand {
	bool memory;
	bool reads, writes;
	bool hidden;	/* implicit, not in the instruction's text, such as the stack of push */
	uint32_t size;	/* bytes */
	uint64_t addr;	/* memory: its address */
	uint64_t value; /* general register: its value */
};

struct ptc_operands {
	struct ptc_operand items[PTC_OPERANDS_MAX]; /* memory operands and general registers */
	size_t n;
	uint32_t regs;	/* registers in the instruction's text, as bits 1 << enum ptc_crash_reg */
	bool divides;	/* div, idiv: the first operand is the divisor */
	bool undefined; /* ud0, ud1, ud2 */
};

/*
 * Get the operands of the instruction at @ip. Returns false if the @len bytes are no instruction.
 */
bool ptc_operands_read(const uint8_t *bytes, size_t len, uint64_t ip,
		       const uint64_t regs[PTC_REG_COUNT], struct ptc_operands *ret);

#endif
