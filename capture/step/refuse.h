/* SPDX-License-Identifier: MIT */
/*
 * A stepped program may not trace those who trace it: both would wait for each other for ever. Its
 * ptrace(2) fails with EPERM, as if somebody traced them already.
 */
#ifndef PTC_CAPTURE_STEP_REFUSE_H
#define PTC_CAPTURE_STEP_REFUSE_H

#include "capture/step/task.h"

/* Thread @k is about to make a system call, with k->before: is it such an one? Then it will be
 * none. */
void ptc_refuse_call(struct ptc_task *k);

/* Thread @k has stopped, with k->regs: a refused call returns its error. */
void ptc_refuse_return(struct ptc_task *k);

#endif
