/* SPDX-License-Identifier: MIT */
/* Accesses a stopped task's memory with the program's own access rights. */
#ifndef PTC_CAPTURE_HOST_TARGET_MEMORY_H
#define PTC_CAPTURE_HOST_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Both copy all @len bytes at @addr, or return false. They wait for a page that the program itself
 * supplies (userfaultfd).
 */
bool ptc_memory_read(pid_t tid, uint64_t addr, void *to, size_t len);
bool ptc_memory_write(pid_t tid, uint64_t addr, const void *from, size_t len);

/*
 * Copies up to @len bytes at @addr, up to the first unreadable page. Returns the number of bytes.
 * Does not wait for a page that the program itself supplies (userfaultfd): such a page is
 * unreadable. Only without the right to open /proc/TID/mem the call can wait for such a page.
 */
size_t ptc_memory_peek(pid_t tid, uint64_t addr, void *to, size_t len);

/*
 * Opens the memory of @tid, for many reads. Returns a descriptor, which the caller closes; -1: the
 * right is missing, or there is no such thread. After an exec it is the memory of the old program.
 */
int ptc_memory_open(pid_t tid);

/* As ptc_memory_peek, with the descriptor of ptc_memory_open, which may be -1. */
size_t ptc_memory_peek_by(int fd, pid_t tid, uint64_t addr, void *to, size_t len);

#endif
