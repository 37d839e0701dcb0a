/* SPDX-License-Identifier: MIT */
/* What a thread waits for. */
#ifndef PTCAP_WAIT_H
#define PTCAP_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#define PTC_WAIT_NO_CALL UINT64_MAX /* number of a system call: none */

/* Lent by a report. A later version may have more members. */
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

/* Returns "mutex" and so on, static; "?" if @kind is out of range. */
PTC_API const char *ptc_wait_name(enum ptc_wait_kind kind);

#ifdef __cplusplus
}
#endif
#endif
