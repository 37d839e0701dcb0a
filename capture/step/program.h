/* SPDX-License-Identifier: MIT */
/* What the traced program is: its name, what it has mapped, the code that is in no file. */
#ifndef PTC_CAPTURE_STEP_PROGRAM_H
#define PTC_CAPTURE_STEP_PROGRAM_H

#include "capture/step/tracer.h"

/* Behind an exec: COMM(exec), then an MMAP2 for each executable mapping; the vdso is kept. */
int ptc_program_begin(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/*
 * The mappings may have changed: an MMAP2 for each executable one that is new
 * (@all: for all of them), and what was known of the code is forgotten.
 */
int ptc_program_update_maps(struct ptc_tracer *t, struct ptc_task *k, bool all,
			    struct ptc_err *err);

/* The thread named itself (PR_SET_NAME): COMM. */
int ptc_program_renamed(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/* A new address space that is a copy of another: what is mapped is known without a record. */
int ptc_program_forked(struct ptc_task *k, struct ptc_err *err);

#endif
