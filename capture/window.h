/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a ring are between two positions: pure arithmetic. Positions
 * of full-trace rings are monotonic and wrap at 2^64 only; the byte at position
 * p is at offset p % size.
 */
#ifndef PTC_CAPTURE_WINDOW_H
#define PTC_CAPTURE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* Up to two pieces of a ring buffer, by offset into it. */
struct ptc_window {
	size_t off[2], len[2]; /* len[1] is 0 if the window does not wrap */
	uint64_t lost;	       /* bytes at the front that were overwritten before they were read */
};

/*
 * The bytes [tail, head) of a ring of @size bytes (any size > 0, a power of two
 * or not). When head - tail exceeds the size, the oldest bytes are gone: they
 * are counted in lost and the window is the newest @size bytes. A window across
 * 2^64 itself is right for powers of two only (the kernel has no other rings).
 */
struct ptc_window ptc_window_between(uint64_t tail, uint64_t head, size_t size);

#endif
