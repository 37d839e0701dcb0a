/* SPDX-License-Identifier: MIT */
/* Classification of one x86 instruction by its effect on the control flow. Uses Zydis. */
#ifndef PTC_ARCH_INSN_H
#define PTC_ARCH_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/kind.h"

enum { PTC_INSN_MAX = 15 }; /* bytes; SDM vol. 2, 2.3.11 */

enum ptc_mode { PTC_MODE_64, PTC_MODE_32, PTC_MODE_16, PTC_MODES };

/* Conditions 0..15 are the low nibble of the jcc opcode (SDM vol. 2, appendix B.1.4.7). */
enum {
	PTC_COND_LOOPNE = 16,
	PTC_COND_LOOPE,
	PTC_COND_LOOP,
	PTC_COND_RCXZ, /* jcxz, jecxz, jrcxz */
	PTC_COND_NONE
};

struct ptc_insn {
	uint8_t len; /* bytes */
	/* enum ptc_kind; PTC_KIND_NONE: execution continues with the next instruction */
	uint8_t kind;
	uint8_t cond;	    /* condition of a PTC_KIND_JCC */
	uint8_t count_bits; /* 16, 32, 64: the part of rcx that loop and jrcxz test */
	bool direct;	    /* target is valid */
	/* A REP string instruction: single-steps once per iteration, retires once. */
	bool rep;
	/* loads SS: no trap is delivered before the next instruction has executed */
	bool shadow;
	bool exits; /* CPUID: runs in the hypervisor, if there is one (SDM vol. 3C, 26.1.2) */
	bool pushes_flags; /* pushf, of any size: stores TF */
	bool loads_flags;  /* popf, iret: may change TF */
	bool unknown;	   /* newer than the disassembler: only the length is known */
	uint64_t target;   /* target of a direct jump, call or jcc */
};

enum ptc_insn_status {
	PTC_INSN_OK,
	PTC_INSN_SHORT, /* more bytes are needed */
	PTC_INSN_BAD,	/* no valid instruction starts here */
};

/*
 * Classify the instruction at @ip from its first @len bytes. PTC_INSN_MAX bytes are always enough.
 */
enum ptc_insn_status ptc_insn_decode(enum ptc_mode mode, const uint8_t *bytes, size_t len,
				     uint64_t ip, struct ptc_insn *ret);

/*
 * Return whether the PTC_KIND_JCC @insn is taken, given the flags and rcx from before its
 * execution. Needed only if target and fall-through address are equal.
 */
bool ptc_insn_taken(const struct ptc_insn *insn, uint64_t rflags, uint64_t rcx);

#endif
