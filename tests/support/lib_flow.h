/* SPDX-License-Identifier: MIT */
/* Random control flows over pt_code, and the packets that a processor would make for them. */
#ifndef PTC_TESTS_LIB_FLOW_H
#define PTC_TESTS_LIB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib_pt.h"

enum { FL_CTC_TICKS = 84 }; /* of the TSC */

/*
 * The running code and the target of the packets. Set b (borrowed) and seed; all else may be zero.
 */
struct fl_walk {
	struct ptc_buf *b;
	uint64_t seed;
	bool timed;	       /* consistent times and no CYC packets, with: */
	unsigned int mtc_freq; /* an MTC is 1 << mtc_freq ticks of the CTC */
	uint64_t ctc;	       /* the current CTC */
	unsigned int ticks;    /* TSC ticks per CTC tick; 0: FL_CTC_TICKS */

	uint64_t ip, bits, base;
	unsigned int nbits, most; /* waiting bits; this many make a packet */
	uint64_t stack[64];
	size_t depth;
};

/* Runs @insns instructions, starting with a PSB+. */
void fl_walk(struct fl_walk *w, unsigned int insns);

#endif
