/* SPDX-License-Identifier: MIT */
/* The step source as a witness: what a process was like when a signal killed it, or came to it. */
#ifndef PTC_CAPTURE_STEP_FATAL_H
#define PTC_CAPTURE_STEP_FATAL_H

#include "ptcap/error.h"

struct ptc_tracer;
struct ptc_task;

/*
 * @k is about to get the signal k->inject: if it dies of that, save the state of its process; if
 * a snapshot is wanted of that, say so (t->hold).
 */
int ptc_fatal_look(struct ptc_tracer *t, const struct ptc_task *k, struct ptc_err *err);

#endif
