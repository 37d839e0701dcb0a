/* SPDX-License-Identifier: MIT */
/*
 * Which CPUs threads ran on, by the SWITCH records of a recording, and where their rings' trace
 * begins: since when all that a thread did is there. A ring that a thread has left is overwritten
 * by others; what it did there is missing then between what other rings have of it.
 */
#ifndef PTC_CLI_MOVES_H
#define PTC_CLI_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/sideband.h"

/* A thread on a CPU, without a switch between. */
struct ptc_move {
	int32_t tid, cpu;
	uint64_t in, out; /* ns; 0: it was there before; UINT64_MAX: it is there yet */
};

/* What a thread did before @ns is not all there, as it ran on @cpu. */
struct ptc_moved {
	int32_t tid, cpu;
	uint64_t ns;
};

struct ptc_moves {
	struct ptc_move *items; /* owned */
	size_t n, cap;
	struct ptc_moves_cpu {
		int32_t cpu;
		size_t newest;	/* of items, and 1; 0: none */
		uint64_t begin; /* of its ring's trace; 0: all of it is there */
	} * cpus;		/* owned */
	size_t ncpus, cpus_cap;
	struct ptc_moved *moved; /* owned; ascending by tid */
	size_t nmoved;
};

/* Take a record; those of a CPU come in order. What is no SWITCH is ignored. False: out of memory.
 */
bool ptc_moves_take(struct ptc_moves *m, const struct ptc_sb *sb);
/* The ring of @cpu has nothing that was before @ns. False: out of memory. */
bool ptc_moves_begin(struct ptc_moves *m, int32_t cpu, uint64_t ns);
/* All is known: fill m->moved. False: out of memory. */
bool ptc_moves_settle(struct ptc_moves *m);
/* Of @tid; NULL: all that there is of it is complete, as far as its CPUs go. Lent. */
const struct ptc_moved *ptc_moves_find(const struct ptc_moves *m, int32_t tid);
void ptc_moves_release(struct ptc_moves *m);

#endif
