/* SPDX-License-Identifier: MIT */
/* Saves the Python frames of the threads of a process that lives on (arch/message_collect.h). */
#ifndef PTC_CAPTURE_CRASH_LIVE_PYTHON_H
#define PTC_CAPTURE_CRASH_LIVE_PYTHON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct ptc_live_python;
struct ptc_maps;
struct ptc_state;

/*
 * Search process @pid for an interpreter, while the process runs. *@ret: NULL, if there is none.
 * Caller frees it. Returns false if out of memory.
 */
bool ptc_live_python_new(pid_t pid, const struct ptc_maps *maps, struct ptc_live_python **ret);
void ptc_live_python_free(struct ptc_live_python *p);

/*
 * Copy the frames of thread @tid, whose pthread_self() is @fs_base. The process stands still since
 * before the first call.
 */
void ptc_live_python_copy(struct ptc_live_python *p, pid_t tid, uint64_t fs_base);

/* Append the frames of all threads as records. The process may run. */
void ptc_live_python_put(struct ptc_live_python *p, const struct ptc_state *s, struct ptc_buf *b);

#endif
