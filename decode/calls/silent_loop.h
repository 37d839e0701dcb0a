/* SPDX-License-Identifier: MIT */
/*
 * Finds loops of code that Intel PT cannot show. Such a loop has direct jumps and calls only, and
 * no conditional or indirect branch. It produces no packet.
 */
#ifndef PTC_DECODE_CALLS_SILENT_LOOP_H
#define PTC_DECODE_CALLS_SILENT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/lookup.h"

/* Reads up to @len bytes of code at @ip. Returns the number of bytes read. */
typedef size_t ptc_silent_loop_read(void *ctx, uint64_t ip, uint8_t *ret, size_t len);

/* Follow the code from @ip on. @through: an instruction that the loop must contain; 0: any. */
struct ptc_silent_loop ptc_silent_loop_find(ptc_silent_loop_read *read, void *ctx, uint64_t ip,
					    uint64_t through);

#endif
