/* SPDX-License-Identifier: MIT */
/* What the traced program is: its name, what it has mapped, the code that is in no file. */
#ifndef PTC_CAPTURE_STEP_PROGRAM_H
#define PTC_CAPTURE_STEP_PROGRAM_H

#include "capture/step/tracer.h"

/* Behind an exec: COMM(exec), then as ptc_program_update_maps. */
int ptc_program_begin(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/*
 * The mappings may have changed: an MMAP2 for all that has become executable,
 * and the code is looked at anew.
 */
int ptc_program_update_maps(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* A system call returned: if it can have written to code, that is looked at anew. */
void ptc_program_after_syscall(struct ptc_tracer *t, const struct ptc_task *k);

/*
 * What @k is about to run at k->ip: into k->insn. If a reader of the recording
 * cannot know its bytes, TEXT_POKE; the trace goes off for that.
 */
int ptc_program_fetch(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* The thread named itself (PR_SET_NAME): COMM. */
int ptc_program_renamed(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* @k begins with a copy of @from: what is mapped, and its code, is known without a record. */
int ptc_program_forked(struct ptc_task *k, const struct ptc_mm *from, struct ptc_err *err);

#endif
