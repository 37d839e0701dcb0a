/* SPDX-License-Identifier: MIT */
/*
 * Uses a debug register of a stopped thread: the thread stops (SIGTRAP, TRAP_HWBKPT) before it
 * executes an address. The program's code is not modified.
 */
#ifndef PTC_CAPTURE_STEP_DEBUGREG_H
#define PTC_CAPTURE_STEP_DEBUGREG_H

#include <stdbool.h>
#include <stdint.h>

struct ptc_task;

/* Watches @addr (0: none) when @k is resumed. Returns false and sets errno on failure. */
bool ptc_debugreg_watch(struct ptc_task *k, uint64_t addr);

#endif
