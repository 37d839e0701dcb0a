/* SPDX-License-Identifier: MIT */
/* A few bytes of a stopped task's memory, where the program itself could read or write them. */
#ifndef PTC_CAPTURE_STEP_MEMORY_H
#define PTC_CAPTURE_STEP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All @len bytes at @addr, or false. */
bool ptc_memory_read(pid_t tid, uint64_t addr, void *to, size_t len);
bool ptc_memory_write(pid_t tid, uint64_t addr, const void *from, size_t len);

#endif
