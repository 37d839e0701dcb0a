/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a core belongs to the process and the moment of a recording. What one of the two
 * does not have cannot differ: a core without a pid, threads, auxiliary vector or build-ids is
 * accepted.
 *
 * A core of the same threads with other registers is accepted too: it was written at another time.
 */
#ifndef PTC_DECODE_CRASH_CORE_MATCH_H
#define PTC_DECODE_CRASH_CORE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/file.h"

struct ptc_core;
struct ptc_crash_state;
struct ptc_procs;

/*
 * Compare the pid, the auxiliary vector and the thread IDs of @c with the state @d of the recording
 * @f. The pid and the thread IDs are those of one PID namespace. PTC_E_USAGE: they differ. The
 * message names the core, the difference, and the remedy.
 */
int ptc_core_match_state(const struct ptc_core *c, const struct ptc_crash_state *d,
			 const struct ptc_file *f, struct ptc_err *err);

/*
 * Compare @c with process @pid of the recording as its sideband records @ps made it: the build-ids
 * of files, and whether any file is at the same address. @alone: the recording has no state of a
 * crash. Then it must at least know the process and the first thread of the core, if it knows any.
 * PTC_E_USAGE: they differ.
 */
int ptc_core_match_process(const struct ptc_core *c, const struct ptc_procs *ps, uint64_t pid,
			   bool alone, struct ptc_err *err);

#endif
