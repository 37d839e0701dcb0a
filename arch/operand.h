/* SPDX-License-Identifier: MIT */
/* What an instruction works on, given the registers it runs with. 64-bit code. */
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
	bool hidden;	/* not in the instruction's text: push's stack, say */
	uint32_t size;	/* bytes */
	uint64_t addr;	/* of memory */
	uint64_t value; /* else: of a general register */
};

struct ptc_operands {
	struct ptc_operand items[PTC_OPERANDS_MAX]; /* memory, and general registers */
	size_t n;
	uint32_t regs;	/* which registers (1 << enum ptc_crash_reg) are in its text */
	bool divides;	/* div, idiv: by the first operand */
	bool undefined; /* ud0, ud1, ud2 */
};

/* False: the @len bytes are no instruction. */
bool ptc_operands_read(const uint8_t *bytes, size_t len, uint64_t ip,
		       const uint64_t regs[PTC_REG_COUNT], struct ptc_operands *ret);

#endif
