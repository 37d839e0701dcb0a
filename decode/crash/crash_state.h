/* SPDX-License-Identifier: MIT */
/* The structure of ptcap/crash_state.h, and how it is read. */
#ifndef PTC_DECODE_CRASH_CRASH_STATE_H
#define PTC_DECODE_CRASH_CRASH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/crash_report.h"
#include "ptcap/crash_state.h"
#include "ptcap/file.h"

struct ptc_crash_state_thread {
	struct ptc_crash_thread state;
	struct ptc_crash_task task; /* of a live process; tid 0: the recording has none */
	struct ptc_cur
		file; /* lent from the file: name of the file of its system call; may be empty */
	char name[16];
};

struct ptc_crash_state_map {
	struct ptc_crash_map map;
	const char *name; /* owned; not NULL */
};

struct ptc_crash_state_piece {
	uint64_t addr;
	struct ptc_cur bytes; /* lent from the file, or in copy */
	uint8_t *copy;	      /* owned; NULL: bytes are lent from the file */
};

/* Limits; more are skipped. */
enum { PTC_CRASH_STATE_MESSAGES = 8, PTC_CRASH_STATE_PYTHON = 4096 };

struct ptc_crash_state {
	struct ptc_crash_signal signal;		/* signo 0: no signal, the process lived on */
	struct ptc_crash_live live;		/* then: how the state was read; pid 0: unknown */
	struct ptc_crash_state_thread *threads; /* owned */
	struct ptc_crash_state_map *maps;	/* owned; ascending */
	struct ptc_crash_state_piece *pieces;	/* owned */
	struct ptc_cur siginfo, auxv;		/* lent from the file; empty: none */
	size_t nthreads, threads_cap, nmaps, maps_cap, npieces, pieces_cap;
	struct ptc_crash_message messages[PTC_CRASH_STATE_MESSAGES];
	size_t nmessages;
	/* owned; messages about Python's threads, of the kinds PTC_CRASH_PYTHON_3_* */
	struct ptc_crash_message *python;
	size_t npython, python_cap;
	uint64_t python_runtime; /* address of _PyRuntime; 0: unknown */
	/* bytes of stacks and code that were not kept, because there were too many */
	uint64_t cut;
	/* states in the recording; this is the last one, or the last one of the pid */
	size_t states;
};

/*
 * Read the last state in @f, or the last one of process @pid (0: any). @d starts zeroed. Caller
 * releases it, also on failure. PTC_E_NOT_EXIST: there is none.
 */
int ptc_crash_state_read(struct ptc_crash_state *d, const struct ptc_file *f, uint64_t pid,
			 struct ptc_err *err);
/* Same, for the last state of process @pid, killed or not. */
int ptc_crash_state_read_any(struct ptc_crash_state *d, const struct ptc_file *f, uint64_t pid,
			     struct ptc_err *err);

/*
 * Same, for a process that was killed. If @f has no such process: for process @pid that lived on,
 * or (0) for the only one in @f. PTC_E_USAGE: @f has several, which the message names.
 */
int ptc_crash_state_read_killed_or_live(struct ptc_crash_state *d, const struct ptc_file *f,
					uint64_t pid, struct ptc_err *err);

enum { PTC_CRASH_PIDS_MAX = 256 };

/* The processes that a recording has states of, in the order of their first states. */
struct ptc_crash_pids {
	uint64_t pids[PTC_CRASH_PIDS_MAX];
	size_t n;
	uint64_t left_out; /* states of more processes */
};

int ptc_crash_state_pids(const struct ptc_file *f, struct ptc_crash_pids *ret, struct ptc_err *err);

/* The newest deaths in a recording, the oldest of them first. */
struct ptc_crash_deaths {
	struct ptc_crash_signal items[PTC_CRASH_DEATHS_MAX];
	size_t n;
	uint64_t left_out; /* number of older ones */
};

int ptc_crash_state_deaths(const struct ptc_file *f, struct ptc_crash_deaths *ret,
			   struct ptc_err *err);

/* Add a message, if the limits allow. Returns false if out of memory. */
bool ptc_crash_state_add_message(struct ptc_crash_state *d, const struct ptc_crash_message *m);

void ptc_crash_state_release(struct ptc_crash_state *d);

/* Returns the first mapping above @addr, or NULL. */
const struct ptc_crash_state_map *ptc_crash_state_map_above(const struct ptc_crash_state *d,
							    uint64_t addr);

#endif
