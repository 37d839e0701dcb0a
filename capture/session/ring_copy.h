/* SPDX-License-Identifier: MIT */
/*
 * A copy of a ring's contents. The trace is off during the copy, so its memory is ready before: no
 * page fault clears a page meanwhile. Between copies the kernel may take the memory back
 * (MADV_FREE). The next copy then waits for new pages.
 */
#ifndef PTC_CAPTURE_SESSION_RING_COPY_H
#define PTC_CAPTURE_SESSION_RING_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/writer.h"

struct ptc_ring_copy {
	uint8_t *bytes; /* owned mapping; NULL: none */
	size_t len;	/* bytes copied */
	size_t cap;	/* size of the mapping */
};

#define PTC_RING_COPY_INIT                                                                         \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Makes memory for @size bytes ready, if there is less. The copy is then empty. */
bool ptc_ring_copy_reserve(struct ptc_ring_copy *c, size_t size);
/* Copies both parts of a window. The reserved memory is large enough. */
void ptc_ring_copy_set(struct ptc_ring_copy *c, const struct ptc_seg seg[2]);
/* Empties the copy, and lets the kernel take its memory. */
void ptc_ring_copy_clear(struct ptc_ring_copy *c);
void ptc_ring_copy_release(struct ptc_ring_copy *c);

#endif
