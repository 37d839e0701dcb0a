/* SPDX-License-Identifier: MIT */
/* A process that a signal killed: the state that the recording has of it. */
#ifndef PTC_DECODE_DEAD_H
#define PTC_DECODE_DEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/crash.h"
#include "ptcap/file.h"

#define PTC_DEAD_NO_TIME UINT64_MAX /* of signal.time_ns: not known */

struct ptc_dead_thread {
	struct ptc_crash_thread state;
	char name[16];
};

struct ptc_dead_map {
	struct ptc_crash_map map;
	const char *name; /* owned; not NULL */
};

struct ptc_dead_piece {
	uint64_t addr;
	struct ptc_cur bytes; /* lent by the file, or in copy */
	uint8_t *copy;	      /* owned; or NULL */
};

struct ptc_dead {
	struct ptc_crash_signal signal;
	struct ptc_dead_thread *threads; /* owned */
	struct ptc_dead_map *maps;	 /* owned; ascending */
	struct ptc_dead_piece *pieces;	 /* owned */
	size_t nthreads, threads_cap, nmaps, maps_cap, npieces, pieces_cap;
	uint64_t cut;  /* bytes of stacks and code that were too many to be kept */
	size_t states; /* how many the recording has; this is the last, or that of the pid */
};

/*
 * Read the last state in @f, or the last of process @pid (0: any). Starts zeroed, and is
 * released whether this fails or not. PTC_E_NOT_EXIST: there is none.
 */
int ptc_dead_read(struct ptc_dead *d, const struct ptc_file *f, uint64_t pid, struct ptc_err *err);
void ptc_dead_release(struct ptc_dead *d);

/* The thread that was killed, or NULL; the mapping that holds @addr, or NULL. */
const struct ptc_dead_thread *ptc_dead_victim(const struct ptc_dead *d);
const struct ptc_dead_map *ptc_dead_map_at(const struct ptc_dead *d, uint64_t addr);
/* The first mapping above @addr, or NULL. */
const struct ptc_dead_map *ptc_dead_map_above(const struct ptc_dead *d, uint64_t addr);

/* Up to @len bytes of memory at @addr; returns how many were saved. */
size_t ptc_dead_memory(const struct ptc_dead *d, uint64_t addr, uint8_t *ret, size_t len);

#endif
