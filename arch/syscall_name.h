/* SPDX-License-Identifier: MIT */
/* Names of the system calls of 64-bit programs. */
#ifndef PTC_ARCH_SYSCALL_NAME_H
#define PTC_ARCH_SYSCALL_NAME_H

#include <stdint.h>

/*
 * Returns "read", static. NULL: there is no such call, or it is newer than the headers of the C
 * library at the time of the build.
 */
const char *ptc_syscall_name(uint64_t nr);

#endif
