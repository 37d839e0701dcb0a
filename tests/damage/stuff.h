/* SPDX-License-Identifier: MIT */
/* Makes traces of other processors and options from those of a recording. */
#ifndef PTC_TESTS_DAMAGE_STUFF_H
#define PTC_TESTS_DAMAGE_STUFF_H

#include <stddef.h>
#include <stdint.h>

enum stuff {
	STUFF_MTC,  /* long runs of MTCs, alternating with short ones */
	STUFF_CYC,  /* a CYC before each packet with branches */
	STUFF_RARE, /* PTW, PWRE, PWRX, MNT, EXSTOP, CFE, EVD, BBP, TRIG, in turn */
};

/* Returns @trace, of *@len bytes, with added packets; frees @trace and sets *@len. */
uint8_t *stuff_trace(enum stuff what, uint8_t *trace, size_t *len);

/* Replaces the MTC, TMA and CBR packets of @trace by PADs. */
void stuff_drop_mtcs(uint8_t *trace, size_t len);

#endif
