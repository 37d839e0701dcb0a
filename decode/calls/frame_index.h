/* SPDX-License-Identifier: MIT */
/*
 * Finds the innermost frame with a value in a deep stack: a function, or a return address. Without
 * this table each jump to an unknown place would search the whole stack.
 */
#ifndef PTC_DECODE_CALLS_FRAME_INDEX_H
#define PTC_DECODE_CALLS_FRAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The member of a frame that has the value. */
enum ptc_frame_member { PTC_FRAME_FUNCTION, PTC_FRAME_RET, PTC_FRAME_SIGNAL_RET };

struct ptc_frame_slot;

/* Initialize with zeros. */
struct ptc_frame_index {
	struct ptc_frame_slot *slots; /* owned */
	size_t nslots, used;	      /* nslots: 0, or a power of two */
};

void ptc_frame_index_release(struct ptc_frame_index *x);

/* Remove all frames. */
void ptc_frame_index_clear(struct ptc_frame_index *x);

/* Returns the innermost frame with the value; 0: none. */
uint32_t ptc_frame_index_find(const struct ptc_frame_index *x, enum ptc_frame_member member,
			      uint64_t value);

/*
 * Make @frame, from 1, the innermost one with the value. *@ret_before: the one until now; 0: none.
 * Returns false if out of memory.
 */
bool ptc_frame_index_add(struct ptc_frame_index *x, enum ptc_frame_member member, uint64_t value,
			 uint32_t frame, uint32_t *ret_before);

/* Remove the innermost frame with the value. @before: as ptc_frame_index_add returned it. */
void ptc_frame_index_remove(struct ptc_frame_index *x, enum ptc_frame_member member, uint64_t value,
			    uint32_t before);

#endif
