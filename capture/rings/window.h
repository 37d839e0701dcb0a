/* SPDX-License-Identifier: MIT */
/*
 * Computes which bytes of a ring lie between two positions. Positions of full-trace rings are
 * monotonic and wrap only at 2^64. The byte at position p is at offset p % size.
 */
#ifndef PTC_CAPTURE_RINGS_WINDOW_H
#define PTC_CAPTURE_RINGS_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* Up to two contiguous parts of a ring buffer, by offset. */
struct ptc_window {
	size_t off[2], len[2]; /* len[1] is 0 if the window does not wrap */
	uint64_t lost;	       /* bytes at the front that were overwritten before they were read */
};

/*
 * Returns the window [tail, head) of a ring of @size bytes. @size is above 0 and need not be a
 * power of two. If head - tail exceeds the size, the oldest bytes are lost: they are counted in
 * lost, and the window holds the newest @size bytes. A window across 2^64 is correct for powers of
 * two only (the kernel has no other rings).
 */
struct ptc_window ptc_window_between(uint64_t tail, uint64_t head, size_t size);

#endif
