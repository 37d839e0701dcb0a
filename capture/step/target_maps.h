/* SPDX-License-Identifier: MIT */
/* Tracks the traced program: its name, its mappings, and the code that is in no file. */
#ifndef PTC_CAPTURE_STEP_TARGET_MAPS_H
#define PTC_CAPTURE_STEP_TARGET_MAPS_H

#include "capture/step/tracer.h"

/* Call after an exec. Writes COMM(exec), then acts as ptc_program_update_maps. */
int ptc_program_begin(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/*
 * The mappings may have changed. Writes an MMAP2 for each new executable mapping, and invalidates
 * the cached code.
 */
int ptc_program_update_maps(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* A system call returned. Invalidates the cached code if the call may have written to code. */
void ptc_program_after_syscall(struct ptc_tracer *t, const struct ptc_task *k);

/*
 * Decodes the instruction that @k is about to run at k->ip into k->insn. Writes a TEXT_POKE if a
 * reader of the recording cannot know its bytes. The trace is switched off for the TEXT_POKE.
 */
int ptc_program_fetch(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* The thread has changed its name (PR_SET_NAME). Writes COMM. */
int ptc_program_renamed(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* @k starts with a copy of @from. Its mappings and code are known without new records. */
int ptc_program_forked(struct ptc_task *k, const struct ptc_mm *from, struct ptc_err *err);

#endif
