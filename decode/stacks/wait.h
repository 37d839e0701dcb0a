/* SPDX-License-Identifier: MIT */
/* Finds what a thread waits for: from its system call, the names of its frames, and its memory. */
#ifndef PTC_DECODE_STACKS_WAIT_H
#define PTC_DECODE_STACKS_WAIT_H

#include <stddef.h>
#include <stdint.h>

#include "decode/crash/crash_state.h"
#include "ptcap/wait.h"

/*
 * Returns the kind of a thread that waits for a futex. @names: the functions of its frames,
 * innermost first; NULL: not known.
 */
enum ptc_wait_kind ptc_wait_kind_of(const char *const *names, size_t n);

/*
 * Finds what thread @t of @d waits for. @names: as above. @nr: number of its system call, if @t is
 * in one.
 */
struct ptc_wait ptc_wait_find(const struct ptc_crash_state *d,
			      const struct ptc_crash_state_thread *t, uint64_t nr,
			      const char *const *names, size_t n);

/*
 * Returns the number of the system call that @code, the bytes in front of a syscall instruction,
 * loads (mov $NR, %eax). PTC_WAIT_NO_CALL: not found. A restarted call has a number that does not
 * tell which call it was (restart_syscall(2)).
 */
uint64_t ptc_wait_loaded_call(const uint8_t *code, size_t len);

#endif
