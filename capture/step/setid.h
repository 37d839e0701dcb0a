/* SPDX-License-Identifier: MIT */
/*
 * Detects files with set-user-ID, set-group-ID or capabilities. While a tracer without
 * CAP_SYS_PTRACE is attached, their exec gives no rights (cap_bprm_creds_from_file in
 * security/commoncap.c). So the program may behave differently than when untraced.
 */
#ifndef PTC_CAPTURE_STEP_SETID_H
#define PTC_CAPTURE_STEP_SETID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Process @pid has just executed a file. Returns true if it lacks rights that the file gives. The
 * file's path goes to @path.
 */
bool ptc_setid_lacks(pid_t pid, char *path, size_t size);

#endif
