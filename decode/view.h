/* SPDX-License-Identifier: MIT */
/* An address space as it is at one moment, for those who look at it while it changes. */
#ifndef PTC_DECODE_VIEW_H
#define PTC_DECODE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "decode/addrspace.h"

/* Never changes. Owners are counted without a lock: one thread makes and puts views. */
struct ptc_view {
	struct ptc_addrspace as; /* without a kernel, and without an image: to be copied for one */
	size_t weight;		 /* about how much memory it holds, in bytes */
	unsigned int owners;
};

/* Of @as, which has no kernel behind it; @number as in struct ptc_addrspace. NULL: no memory. */
struct ptc_view *ptc_view_new(const struct ptc_addrspace *as, uint64_t number);
struct ptc_view *ptc_view_get(struct ptc_view *v);
/* Returns the weight of what is gone. NULL is fine. */
size_t ptc_view_put(struct ptc_view *v);

#endif
