/* SPDX-License-Identifier: MIT */
/* Disassembly of single instructions. */
#ifndef PTC_ARCH_DISASM_H
#define PTC_ARCH_DISASM_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

enum { PTC_DISASM_MAX = 128 }; /* bytes of text, including the NUL */

/*
 * Write the instruction at @ip in Intel syntax to @ret, with absolute targets: "call 0x401020".
 * "(bad)" if the @len bytes are no instruction. "(unknown)" if the instruction is newer than the
 * disassembler. Text that does not fit is cut off.
 */
void ptc_disasm(enum ptc_mode mode, const uint8_t *bytes, size_t len, uint64_t ip,
		char ret[PTC_DISASM_MAX]);

#endif
