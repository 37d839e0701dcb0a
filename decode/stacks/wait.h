/* SPDX-License-Identifier: MIT */
/* Finds what a thread waits for: from its system call, the names of its frames, and its memory. */
#ifndef PTC_DECODE_STACKS_WAIT_H
#define PTC_DECODE_STACKS_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/crash/crash_state.h"

enum ptc_wait_kind {
	PTC_WAIT_NONE,	  /* not in a system call: it runs, or waits for the CPU */
	PTC_WAIT_CALL,	  /* in a system call that is none of the following */
	PTC_WAIT_MUTEX,	  /* pthread_mutex_lock(3) and its relatives */
	PTC_WAIT_RWLOCK,  /* pthread_rwlock_rdlock(3), pthread_rwlock_wrlock(3) */
	PTC_WAIT_STREAM,  /* the lock of a stdio stream (flockfile(3)) */
	PTC_WAIT_LOCK,	  /* a lock inside of the C library, which has no owner */
	PTC_WAIT_COND,	  /* a condition variable */
	PTC_WAIT_SEM,	  /* a semaphore (sem_wait(3)) */
	PTC_WAIT_JOIN,	  /* the end of a thread (pthread_join(3)) */
	PTC_WAIT_BARRIER, /* pthread_barrier_wait(3) */
	PTC_WAIT_ONCE,	  /* pthread_once(3) in another thread */
	PTC_WAIT_FUTEX,	  /* a futex of another kind */
	PTC_WAIT_COUNT
};

#define PTC_WAIT_NO_CALL UINT64_MAX

struct ptc_wait {
	enum ptc_wait_kind kind;
	uint64_t nr; /* of the system call; PTC_WAIT_NO_CALL: none */
	uint64_t args[6];
	uint64_t addr; /* from MUTEX on: address of the object, or of the futex in it */
	/*
	 * MUTEX, RWLOCK, STREAM: the thread that holds the lock. JOIN: the thread whose end is
	 * awaited. 0: not known.
	 */
	uint64_t owner;
	bool owner_is_gone; /* owner is no thread of this process */
};

/* Returns "mutex" and so on; "?" if @kind is out of range. */
const char *ptc_wait_name(enum ptc_wait_kind kind);

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
