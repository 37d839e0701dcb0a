/* SPDX-License-Identifier: MIT */
#include "cli/common/process_root.h"

#include <stdio.h>
#include <sys/stat.h>

bool ptc_process_root(pid_t pid, char ret[PTC_PROCESS_ROOT])
{
	struct stat own, other;

	(void)snprintf(ret, PTC_PROCESS_ROOT, "/proc/%d/root", (int)pid);
	return !stat("/", &own) && !stat(ret, &other) &&
	       (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}
