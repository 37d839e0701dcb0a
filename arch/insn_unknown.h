/* SPDX-License-Identifier: MIT */
/*
 * Length of instructions that are newer than the disassembler. Encodings with VEX, EVEX, XOP and in
 * the maps 0F 38 and 0F 3A have one layout (SDM vol. 2, 2.3 and 2.7), and none of them branches.
 */
#ifndef PTC_ARCH_INSN_UNKNOWN_H
#define PTC_ARCH_INSN_UNKNOWN_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

/*
 * Returns the bytes of such an instruction at @bytes. 0: another kind of instruction, or too few
 * bytes.
 */
size_t ptc_insn_unknown_len(enum ptc_mode mode, const uint8_t *bytes, size_t len);

#endif
