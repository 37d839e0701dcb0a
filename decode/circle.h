/* SPDX-License-Identifier: MIT */
/*
 * Circles of code that Intel PT cannot show: jumps and calls whose targets are in the code, back to
 * where they began, without a conditional or indirect branch. They make no packet.
 */
#ifndef PTC_DECODE_CIRCLE_H
#define PTC_DECODE_CIRCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_circle {
	uint64_t ip;  /* an instruction that it goes through */
	size_t insns; /* once round; 0: there is no circle */
	bool calls;   /* some of them are calls: each round takes stack */
};

/* Reads up to @len bytes of code at @ip. Returns how many there are. */
typedef size_t ptc_circle_read(void *ctx, uint64_t ip, uint8_t *ret, size_t len);

/* Follows the code from @ip on. @through: an instruction that the circle must go through; 0: any.
 */
struct ptc_circle ptc_circle_find(ptc_circle_read *read, void *ctx, uint64_t ip, uint64_t through);

struct ptc_decode;

/* That of what process @pid of @d has mapped now, which @ip leads into. */
struct ptc_circle ptc_circle_behind(const struct ptc_decode *d, int32_t pid, uint64_t ip);

#endif
