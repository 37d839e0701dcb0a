/* SPDX-License-Identifier: MIT */
/* An immutable snapshot of an address space, for worker threads. */
#ifndef PTC_DECODE_IMAGE_ADDRSPACE_SNAPSHOT_H
#define PTC_DECODE_IMAGE_ADDRSPACE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "decode/image/addrspace.h"

/* Never changes. Owners are counted without a lock: one thread creates and releases views. */
struct ptc_view {
	struct ptc_addrspace as; /* without an image; a copy may have an image */
	struct ptc_view *kernel; /* owned; the kernel's view; NULL: none */
	size_t weight;		 /* memory used, in bytes, approximately */
	unsigned int owners;
};

/*
 * Creates a view of @as. @kernel (NULL: none) is a view of the kernel of @as now. @number as in
 * struct ptc_addrspace. NULL: out of memory.
 */
struct ptc_view *ptc_view_new(const struct ptc_addrspace *as, struct ptc_view *kernel,
			      uint64_t number);

/* Returns true if @v shows the current state of @as and its kernel. */
static inline bool ptc_view_is_of(const struct ptc_view *v, const struct ptc_addrspace *as)
{
	const struct ptc_addrspace *kernel = as->kernel;

	return v->as.version == as->version &&
	       (!kernel || (v->kernel && v->kernel->as.version == kernel->version));
}

struct ptc_view *ptc_view_get(struct ptc_view *v);
/* Releases a reference. Returns the weight of what was freed. NULL is fine. */
size_t ptc_view_put(struct ptc_view *v);

#endif
