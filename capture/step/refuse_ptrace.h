/* SPDX-License-Identifier: MIT */
/*
 * Prevents a stepped program from tracing its tracer: both would wait for each other forever. Its
 * ptrace(2) fails with EPERM, as if the target already had a tracer.
 */
#ifndef PTC_CAPTURE_STEP_REFUSE_PTRACE_H
#define PTC_CAPTURE_STEP_REFUSE_PTRACE_H

#include "capture/step/task.h"

/*
 * Thread @k is about to make a system call, with k->before. If the call would trace us, it is
 * replaced by an invalid call.
 */
void ptc_refuse_call(struct ptc_task *k);

/* Thread @k has stopped, with k->regs. A refused call returns its error. */
void ptc_refuse_return(struct ptc_task *k);

#endif
