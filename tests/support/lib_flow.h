/* SPDX-License-Identifier: MIT */
/* Flows at random over pt_code, and the packets that a processor would make of them. */
#ifndef PTC_TESTS_LIB_FLOW_H
#define PTC_TESTS_LIB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib_pt.h"

enum { FL_CTC_TICKS = 84 }; /* of the TSC */

/* What runs, and where the packets go. Set b (lent) and seed; all else may be zeros. */
struct fl_walk {
	struct ptc_buf *b;
	uint64_t seed;
	bool timed;	       /* times that make sense, and no CYC packets; by these: */
	unsigned int mtc_freq; /* an MTC is 1 << mtc_freq ticks of the CTC, */
	uint64_t ctc;	       /* which is this, */
	unsigned int ticks;    /* of the TSC; 0: FL_CTC_TICKS */

	uint64_t ip, bits, base;
	unsigned int nbits, most; /* that wait; as many make a packet */
	uint64_t stack[64];
	size_t depth;
};

/* Run @insns instructions, from a PSB+ on. */
void fl_walk(struct fl_walk *w, unsigned int insns);

#endif
