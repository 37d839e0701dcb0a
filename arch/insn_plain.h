/* SPDX-License-Identifier: MIT */
/*
 * The instructions that most code is made of, in 64-bit mode, found out in a tenth of the time that
 * Zydis takes. It is the judge: what is known here is what it says, and all else is left to it.
 */
#ifndef PTC_ARCH_INSN_PLAIN_H
#define PTC_ARCH_INSN_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

/* As ptc_insn_decode. False: it is none of them, or is not whole. */
bool ptc_insn_plain(const uint8_t *bytes, size_t len, uint64_t ip, struct ptc_insn *ret);

/* ptc_insn_decode without that. */
enum ptc_insn_status ptc_insn_decode_any(enum ptc_mode mode, const uint8_t *bytes, size_t len,
					 uint64_t ip, struct ptc_insn *ret);

#endif
