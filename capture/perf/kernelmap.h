/* SPDX-License-Identifier: MIT */
/*
 * Records of where the kernel and its modules are, for a trace of the kernel:
 * the kernel itself makes none. As perf makes them, with build-ids.
 */
#ifndef PTC_CAPTURE_PERF_KERNELMAP_H
#define PTC_CAPTURE_PERF_KERNELMAP_H

#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_kernelmap {
	const char *root;     /* /proc, /sys and /lib/modules are below it; "": the machine's own */
	uint64_t sample_type; /* of the event they are said to be of, */
	uint64_t id;	      /* and its id */
};

/*
 * Append an MMAP2 of the kernel's text and one of each module, at time 0. PTC_E_PERM: the
 * kernel hides its addresses from us; nothing is appended.
 */
int ptc_kernelmap_put(struct ptc_buf *b, const struct ptc_kernelmap *m, struct ptc_err *err);

#endif
