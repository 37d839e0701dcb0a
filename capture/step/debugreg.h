/* SPDX-License-Identifier: MIT */
/*
 * A debug register of a stopped thread: it stops (SIGTRAP, TRAP_HWBKPT) before it
 * executes what is at an address. Nothing is written into the program's code.
 */
#ifndef PTC_CAPTURE_STEP_DEBUGREG_H
#define PTC_CAPTURE_STEP_DEBUGREG_H

#include <stdbool.h>
#include <stdint.h>

struct ptc_task;

/* Watch @addr (0: nothing) from its next resumption on. False, with errno set, if it cannot be. */
bool ptc_debugreg_watch(struct ptc_task *k, uint64_t addr);

#endif
