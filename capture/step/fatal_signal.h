/* SPDX-License-Identifier: MIT */
/* Saves the state of a process for the step source, when a signal kills it or reaches it. */
#ifndef PTC_CAPTURE_STEP_FATAL_SIGNAL_H
#define PTC_CAPTURE_STEP_FATAL_SIGNAL_H

#include "ptcap/error.h"

struct ptc_tracer;
struct ptc_task;

/*
 * @k is about to get the signal k->inject. If the signal is fatal, saves the state of the process.
 * Keeps the state of a process that handles a fault. Sets t->hold if a snapshot is wanted for the
 * signal.
 */
int ptc_fatal_look(struct ptc_tracer *t, const struct ptc_task *k, struct ptc_err *err);

/*
 * @k is about to exit. If its process exits with a failure and has handled a fault, saves the state
 * of that moment.
 */
int ptc_fatal_exit(struct ptc_tracer *t, const struct ptc_task *k, struct ptc_err *err);

#endif
