/* SPDX-License-Identifier: MIT */
/* What runs already, as the records the kernel would have made of it. */
#ifndef PTC_CAPTURE_PERF_RUNNING_H
#define PTC_CAPTURE_PERF_RUNNING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_running {
	const char *proc;     /* "/proc" but for tests */
	uint64_t sample_type; /* of the event they are said to be of, */
	uint64_t id;	      /* and its id */
	bool build_ids; /* mappings name a build-id, where there is one, instead of an inode */
	bool vdso;	/* keep the bytes of the vdso */
};

/*
 * Append COMM, FORK and MMAP2 (of what is executable) for process @pid and its threads,
 * at time 0, in front of all else; build-ids are those of the files that the process sees
 * under these names, in whatever container. Returns 1; 0 if there is no such process (any
 * more); or an error.
 */
int ptc_running_put(struct ptc_buf *b, const struct ptc_running *r, pid_t pid, struct ptc_err *err);

#endif
