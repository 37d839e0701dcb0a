/* SPDX-License-Identifier: MIT */
/* Makes the records that the kernel would have written about processes that already run. */
#ifndef PTC_CAPTURE_PERF_SYNTHESIZE_H
#define PTC_CAPTURE_PERF_SYNTHESIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_running {
	const char *proc;     /* "/proc", except in tests */
	uint64_t sample_type; /* sample_type and id of the event that the records belong to */
	uint64_t id;	      /* see sample_type */
	bool build_ids;	      /* mappings contain the build-id, if known, instead of the inode */
	bool vdso;	      /* also record the bytes of the vdso */
};

/*
 * Appends COMM, FORK and MMAP2 (of executable mappings) for process @pid and its threads. Their
 * time is 0, before all other records. Build-ids come from the files that the process itself sees
 * under these names, also in a container. Returns 1; 0 if there is no such process (any more); or
 * an error.
 */
int ptc_running_put(struct ptc_buf *b, const struct ptc_running *r, pid_t pid, struct ptc_err *err);

#endif
