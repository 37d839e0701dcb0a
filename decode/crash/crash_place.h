/* SPDX-License-Identifier: MIT */
/* Describes places of ptcap/crash_place.h. */
#ifndef PTC_DECODE_CRASH_CRASH_PLACE_H
#define PTC_DECODE_CRASH_CRASH_PLACE_H

#include "ptcap/crash_place.h"

struct ptc_decode;
struct ptc_item;

/*
 * Describe the address @ip in the process of @it. @back: bytes in front of @ip where the code is:
 * 1 for a return address, which may be behind the end of its function.
 */
void ptc_crash_place_find(struct ptc_decode *d, const struct ptc_item *it, uint64_t ip,
			  uint64_t back, struct ptc_crash_place *ret);

#endif
