/* SPDX-License-Identifier: MIT */
/*
 * Instructions that are newer than the disassembler: how long they are. What VEX, EVEX, XOP and the
 * maps 0F 38 and 0F 3A encode has one layout (SDM vol. 2, 2.3 and 2.7), and leads nowhere else.
 */
#ifndef PTC_ARCH_INSN_UNKNOWN_H
#define PTC_ARCH_INSN_UNKNOWN_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

/* Bytes of such an instruction in front of @bytes; 0: it is none, or there are too few. */
size_t ptc_insn_unknown_len(enum ptc_mode mode, const uint8_t *bytes, size_t len);

#endif
