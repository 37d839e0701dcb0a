/* SPDX-License-Identifier: MIT */
/* An address space as it is at one moment, for those who look at it while it changes. */
#ifndef PTC_DECODE_VIEW_H
#define PTC_DECODE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "decode/addrspace.h"

/* Never changes. Owners are counted without a lock: one thread makes and puts views. */
struct ptc_view {
	struct ptc_addrspace as; /* without an image: to be copied for one */
	struct ptc_view *kernel; /* owned; what is behind it; NULL: nothing */
	size_t weight;		 /* about how much memory it holds, in bytes */
	unsigned int owners;
};

/*
 * Of @as, with @kernel (NULL: nothing), a view of what is behind that now; @number as in struct
 * ptc_addrspace. NULL: no memory.
 */
struct ptc_view *ptc_view_new(const struct ptc_addrspace *as, struct ptc_view *kernel,
			      uint64_t number);

/* Is it of @as, and of what is behind that, as they are now? */
static inline bool ptc_view_is_of(const struct ptc_view *v, const struct ptc_addrspace *as)
{
	const struct ptc_addrspace *kernel = as->kernel;

	return v->as.version == as->version &&
	       (!kernel || (v->kernel && v->kernel->as.version == kernel->version));
}

struct ptc_view *ptc_view_get(struct ptc_view *v);
/* Returns the weight of what is gone. NULL is fine. */
size_t ptc_view_put(struct ptc_view *v);

#endif
