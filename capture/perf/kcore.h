/* SPDX-License-Identifier: MIT */
/*
 * Copies the kernel's code from memory, with the files that tell where it is. The result is a
 * directory with kcore, kallsyms and modules, as perf record --kcore writes it.
 */
#ifndef PTC_CAPTURE_PERF_KCORE_H
#define PTC_CAPTURE_PERF_KCORE_H

#include <stdint.h>

#include "ptcap/error.h"

struct ptc_kcore_opts {
	const char *root; /* prefix of /proc; "": the machine's own */
	/* Called after the code was copied and before the check for changes. May be NULL. */
	void (*copied)(void *ctx);
	void *ctx;
};

/*
 * Creates the directory @dir and fills it. Pages of zeros are left out. The copy starts again if
 * modules or BPF programs came or went. PTC_E_BUSY: that happened too often. @ret_bytes: bytes of
 * code. On failure the caller removes @dir and its contents.
 */
int ptc_kcore_copy(const char *dir, const struct ptc_kcore_opts *opts, uint64_t *ret_bytes,
		   struct ptc_err *err);

#endif
