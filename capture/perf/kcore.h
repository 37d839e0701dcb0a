/* SPDX-License-Identifier: MIT */
/*
 * A copy of the kernel's code as it is in memory, with what tells where it is,
 * in the form that perf record --kcore gives it: a folder with kcore, kallsyms
 * and modules.
 */
#ifndef PTC_CAPTURE_PERF_KCORE_H
#define PTC_CAPTURE_PERF_KCORE_H

#include <stdint.h>

#include "ptcap/error.h"

struct ptc_kcore_opts {
	const char *root; /* /proc is below it; "": the machine's own */
	/* Called when the code was copied and it was not yet looked if it stayed. May be NULL. */
	void (*copied)(void *ctx);
	void *ctx;
};

/*
 * Make the folder @dir and fill it. Pages of zeros are left out. What modules and BPF programs
 * come or go meanwhile makes it begin again; PTC_E_BUSY: too often. @ret_bytes: of code. What
 * is there on failure is the caller's to remove.
 */
int ptc_kcore_copy(const char *dir, const struct ptc_kcore_opts *opts, uint64_t *ret_bytes,
		   struct ptc_err *err);

#endif
