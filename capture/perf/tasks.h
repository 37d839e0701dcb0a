/* SPDX-License-Identifier: MIT */
/* Who is to be recorded, as /proc tells it. PROC is given by the caller, for tests. */
#ifndef PTC_CAPTURE_PERF_TASKS_H
#define PTC_CAPTURE_PERF_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ptcap/error.h"

struct ptc_tids {
	pid_t *items; /* owned; in the order they were added, each once */
	size_t n, cap;
};

#define PTC_TIDS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Accepts PTC_TIDS_INIT. */
void ptc_tids_release(struct ptc_tids *t);
bool ptc_tids_have(const struct ptc_tids *t, pid_t tid);
/* Nothing happens if it is there. False: out of memory. */
bool ptc_tids_add(struct ptc_tids *t, pid_t tid);

/*
 * Add the threads that process @pid has now. PTC_E_NOT_EXIST: there is no such
 * process (any more).
 */
int ptc_tasks_threads(struct ptc_tids *t, const char *proc, pid_t pid, struct ptc_err *err);

/* Add every process there is. */
int ptc_tasks_processes(struct ptc_tids *t, const char *proc, struct ptc_err *err);

/* The process that thread @tid is of; 0: there is none such. */
pid_t ptc_tasks_process(const char *proc, pid_t tid);

/*
 * The folder of cgroup @name below where PROC/self/mounts has the hierarchy that
 * perf_event follows: version 2, or version 1 with that controller. *@ret is
 * malloc'ed. PTC_E_NOT_EXIST: no hierarchy; PTC_E_USAGE: not a name in it.
 */
int ptc_tasks_cgroup(const char *proc, const char *name, char **ret, struct ptc_err *err);

#endif
