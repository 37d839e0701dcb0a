/* SPDX-License-Identifier: MIT */
/* The folder in which the files of a live process are. */
#ifndef PTC_CLI_COMMON_PROCESS_ROOT_H
#define PTC_CLI_COMMON_PROCESS_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

enum { PTC_PROCESS_ROOT = 64 };

/*
 * Get the root folder of process @pid, "/proc/PID/root". Returns false if this folder is also the
 * root folder of ptcap: the process is in no container.
 */
bool ptc_process_root(pid_t pid, char ret[PTC_PROCESS_ROOT]);

#endif
