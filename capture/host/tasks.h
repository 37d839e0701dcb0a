/* SPDX-License-Identifier: MIT */
/* Lists the tasks to record, from /proc. The caller gives PROC, for tests. */
#ifndef PTC_CAPTURE_HOST_TASKS_H
#define PTC_CAPTURE_HOST_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ptcap/error.h"

struct ptc_tids {
	pid_t *items; /* owned; in the order of addition, without duplicates */
	size_t n, cap;
};

#define PTC_TIDS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Accepts PTC_TIDS_INIT. */
void ptc_tids_release(struct ptc_tids *t);
bool ptc_tids_have(const struct ptc_tids *t, pid_t tid);
/* Does nothing if @tid is in the list. False: out of memory. */
bool ptc_tids_add(struct ptc_tids *t, pid_t tid);

/*
 * Adds the current threads of process @pid. PTC_E_NOT_EXIST: there is no such process (any more).
 */
int ptc_tasks_threads(struct ptc_tids *t, const char *proc, pid_t pid, struct ptc_err *err);

/* Adds all processes. */
int ptc_tasks_processes(struct ptc_tids *t, const char *proc, struct ptc_err *err);

/*
 * Adds process @pid and its descendants, at most @max processes. A process whose parent has ended
 * is no descendant. Returns 0, also if processes end meanwhile, or PTC_E_NO_MEMORY. Source:
 * /proc/PID/task/TID/children (proc(5)), which a kernel without CONFIG_PROC_CHILDREN lacks.
 */
int ptc_tasks_family(struct ptc_tids *t, const char *proc, pid_t pid, size_t max,
		     struct ptc_err *err);

/* Returns the state letter of thread @tid (proc(5), stat); 0: no such thread. */
char ptc_tasks_state(const char *proc, pid_t tid);

/* Returns the process of thread @tid; 0: no such thread. */
pid_t ptc_tasks_process(const char *proc, pid_t tid);

/*
 * Returns the folder of cgroup @name, in the hierarchy that perf_event uses: version 2, or version
 * 1 with that controller. PROC/self/mounts names its mount point. Caller frees *@ret.
 * PTC_E_NOT_EXIST: no such hierarchy. PTC_E_USAGE: @name is not valid.
 */
int ptc_tasks_cgroup(const char *proc, const char *name, char **ret, struct ptc_err *err);

#endif
