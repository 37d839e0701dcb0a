/* SPDX-License-Identifier: MIT */
/*
 * Which CPUs threads ran on, from the SWITCH records, and where each ring's trace begins. From
 * these follows the time since when a thread's trace is complete. A thread that moves leaves its
 * trace in the old CPU's ring, where other threads overwrite it. That part is then missing before
 * its trace in other rings.
 */
#ifndef PTC_CLI_COMMON_CPU_MIGRATIONS_H
#define PTC_CLI_COMMON_CPU_MIGRATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/sideband.h"

/* A period of a thread on a CPU without a switch. */
struct ptc_move {
	int32_t tid, cpu;
	uint64_t in, out; /* ns; in 0: began before; out UINT64_MAX: still there */
};

/* The trace of a thread before @ns is incomplete, because it ran on @cpu. */
struct ptc_moved {
	int32_t tid, cpu;
	uint64_t ns;
};

struct ptc_moves {
	struct ptc_move *items; /* owned */
	size_t n, cap;
	struct ptc_moves_cpu {
		int32_t cpu;
		size_t newest;	/* index + 1 in items; 0: none */
		uint64_t begin; /* begin of its ring's trace; 0: complete */
	} * cpus;		/* owned */
	size_t ncpus, cpus_cap;
	struct ptc_moved *moved; /* owned; ascending tid */
	size_t nmoved;
};

/*
 * Process a record. Records of one CPU must be in order. Other types than SWITCH are ignored.
 * Returns false if out of memory.
 */
bool ptc_moves_take(struct ptc_moves *m, const struct ptc_sb *sb);
/* The ring of @cpu has no trace before @ns. Returns false if out of memory. */
bool ptc_moves_begin(struct ptc_moves *m, int32_t cpu, uint64_t ns);
/* Fill m->moved, after all records. Returns false if out of memory. */
bool ptc_moves_settle(struct ptc_moves *m);
/* Returns the entry of @tid, borrowed. NULL: its trace is complete in this respect. */
const struct ptc_moved *ptc_moves_find(const struct ptc_moves *m, int32_t tid);
void ptc_moves_release(struct ptc_moves *m);

#endif
