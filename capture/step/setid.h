/* SPDX-License-Identifier: MIT */
/*
 * Set-user-ID and set-group-ID files, and those with capabilities: an exec of one gives no rights
 * while a tracer without CAP_SYS_PTRACE is attached (cap_bprm_creds_from_file in
 * security/commoncap.c), so the program may do something else than alone.
 */
#ifndef PTC_CAPTURE_STEP_SETID_H
#define PTC_CAPTURE_STEP_SETID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Process @pid has just executed a file: does it lack rights that the file gives? Its path goes to
 * @path. */
bool ptc_setid_lacks(pid_t pid, char *path, size_t size);

#endif
