/* SPDX-License-Identifier: MIT */
/*
 * Fast path for the most frequent instructions in 64-bit mode, in a tenth of Zydis' time. Zydis is
 * the reference: results are identical, and all other instructions are left to Zydis.
 */
#ifndef PTC_ARCH_INSN_PLAIN_H
#define PTC_ARCH_INSN_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

/* As ptc_insn_decode. Returns false if the instruction is not supported here, or incomplete. */
bool ptc_insn_plain(const uint8_t *bytes, size_t len, uint64_t ip, struct ptc_insn *ret);

/* ptc_insn_decode without the fast path. */
enum ptc_insn_status ptc_insn_decode_any(enum ptc_mode mode, const uint8_t *bytes, size_t len,
					 uint64_t ip, struct ptc_insn *ret);

#endif
