/* SPDX-License-Identifier: MIT */
/*
 * Makes mmap records for the kernel and its modules, for a kernel trace: the kernel makes none
 * itself. The form is perf's, with build-ids.
 */
#ifndef PTC_CAPTURE_PERF_SYNTHESIZE_KERNEL_H
#define PTC_CAPTURE_PERF_SYNTHESIZE_KERNEL_H

#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_kernelmap {
	const char *root;     /* prefix of /proc, /sys and /lib/modules; "": the machine's own */
	uint64_t sample_type; /* sample_type and id of the event that the records belong to */
	uint64_t id;	      /* see sample_type */
};

/*
 * Appends an MMAP2 for the kernel's text and one for each module, at time 0. PTC_E_PERM: the kernel
 * hides its addresses from us, and nothing is appended.
 */
int ptc_kernelmap_put(struct ptc_buf *b, const struct ptc_kernelmap *m, struct ptc_err *err);

#endif
