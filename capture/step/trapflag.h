/* SPDX-License-Identifier: MIT */
/*
 * Keeps TF, the flag that single-steps, as the program would see it untraced. The kernel hides TF
 * from ptrace's registers and from signal frames while it knows that it set TF itself
 * (TIF_FORCED_TF, arch/x86/kernel/step.c). Instructions can still read TF, and the kernel loses
 * track at each popf and iret. Therefore k->own_tf records the program's own TF.
 */
#ifndef PTC_CAPTURE_STEP_TRAPFLAG_H
#define PTC_CAPTURE_STEP_TRAPFLAG_H

#include <stdbool.h>

struct ptc_task;

/*
 * Returns true if TF is set in k->regs. For a task that was never stepped, that is the program's
 * own TF.
 */
bool ptc_trapflag_is_set(const struct ptc_task *k);

/*
 * @k has retired k->insn, and k->regs are the registers after it. Removes TF from flags that the
 * instruction stored, and notes TF in flags that it loaded.
 */
void ptc_trapflag_retired(struct ptc_task *k);

/* A signal handler was entered: corrects the flags in its frame. */
void ptc_trapflag_in_handler(struct ptc_task *k);

/* @k is stopped and will not be stepped: clears a TF that the program did not set. */
void ptc_trapflag_settle(const struct ptc_task *k);

#endif
