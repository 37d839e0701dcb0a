/* SPDX-License-Identifier: MIT */
/* Traces of other processors and options, made from those of a recording. */
#ifndef PTC_TESTS_DAMAGE_STUFF_H
#define PTC_TESTS_DAMAGE_STUFF_H

#include <stddef.h>
#include <stdint.h>

enum stuff {
	STUFF_MTC,  /* long runs of MTCs, in turn with short ones */
	STUFF_CYC,  /* a CYC in front of each packet of branches */
	STUFF_RARE, /* PTW, PWRE, PWRX, MNT, EXSTOP, CFE, EVD, BBP, TRIG, in turn */
};

/* Returns @trace, of *@len bytes, with more packets in it; frees @trace and sets *@len. */
uint8_t *stuff_trace(enum stuff what, uint8_t *trace, size_t *len);

/* Make PADs of the MTC, TMA and CBR packets of @trace. */
void stuff_drop_mtcs(uint8_t *trace, size_t len);

#endif
