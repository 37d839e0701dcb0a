/* SPDX-License-Identifier: MIT */
/* The names of threads (COMM records) of a recording. */
#ifndef PTC_CLI_VIEW_THREAD_NAMES_H
#define PTC_CLI_VIEW_THREAD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/common/string_pool.h"
#include "ptcap/file.h"

/* A name that a thread got. */
struct ptc_thread_name {
	int32_t tid;
	uint32_t name; /* number in texts */
	uint64_t time_ns;
	size_t order; /* of its record */
};

struct ptc_thread_names {
	struct ptc_names texts;
	struct ptc_thread_name *v; /* owned; ascending by tid, time and order */
	size_t n, cap;
};

/* Read all names in @f. Caller releases @ret, also on failure. */
int ptc_thread_names_read(struct ptc_thread_names *ret, const struct ptc_file *f,
			  struct ptc_err *err);
void ptc_thread_names_release(struct ptc_thread_names *t);

/*
 * Returns the name of thread @tid at @time_ns (PTC_NO_TIME: its last one). Before its first name:
 * the first. Borrowed. NULL: not known.
 */
const char *ptc_thread_names_at(const struct ptc_thread_names *t, int32_t tid, uint64_t time_ns);

#endif
