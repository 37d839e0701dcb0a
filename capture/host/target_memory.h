/* SPDX-License-Identifier: MIT */
/* Accesses a stopped task's memory with the program's own access rights. */
#ifndef PTC_CAPTURE_HOST_TARGET_MEMORY_H
#define PTC_CAPTURE_HOST_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Both copy all @len bytes at @addr, or return false. */
bool ptc_memory_read(pid_t tid, uint64_t addr, void *to, size_t len);
bool ptc_memory_write(pid_t tid, uint64_t addr, const void *from, size_t len);

#endif
