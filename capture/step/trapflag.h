/* SPDX-License-Identifier: MIT */
/*
 * TF, the flag a step is made with, as the program would see it untraced. The
 * kernel hides it from ptrace's registers and from signal frames while it knows
 * that it set it itself (TIF_FORCED_TF, arch/x86/kernel/step.c); instructions
 * show it, and the kernel loses track at each popf and iret. Hence k->own_tf.
 */
#ifndef PTC_CAPTURE_STEP_TRAPFLAG_H
#define PTC_CAPTURE_STEP_TRAPFLAG_H

#include <stdbool.h>

struct ptc_task;

/* Is TF in k->regs? Of a task that was not stepped yet that is the program's own. */
bool ptc_trapflag_is_set(const struct ptc_task *k);

/*
 * @k has retired k->insn, k->regs being the registers behind it: take TF out of
 * what it stored, note what it loaded.
 */
void ptc_trapflag_retired(struct ptc_task *k);

/* A signal handler was entered: the flags in its frame. */
void ptc_trapflag_in_handler(struct ptc_task *k);

/* @k, stopped, will not be stepped: a TF that is ours goes. */
void ptc_trapflag_settle(const struct ptc_task *k);

#endif
