/* SPDX-License-Identifier: MIT */
/* Saves the states of the stepped processes for a snapshot, which live on. */
#ifndef PTC_CAPTURE_STEP_LIVE_THREADS_H
#define PTC_CAPTURE_STEP_LIVE_THREADS_H

#include <stddef.h>
#include <sys/types.h>

#include "ptcap/error.h"

struct ptc_copy_thread;
struct ptc_tracer;

/*
 * Collects the threads of process @pid whose registers are known. Returns their number: at most
 * that of all tasks. No task has the CPU, or the task that has it is stopped.
 */
size_t ptc_live_threads_collect(const struct ptc_tracer *t, pid_t pid, struct ptc_copy_thread *ret);

/*
 * Replaces the records in @t->lives by the states of all processes, at most PTC_COPY_PROCESSES, and
 * sets t->shared->lives to their number. Leaves out a process that is about to die: its state is in
 * @t->states. No task has the CPU. PTC_E_NO_MEMORY, or errors of ptc_states_replace.
 */
int ptc_live_threads_save(struct ptc_tracer *t, struct ptc_err *err);

#endif
