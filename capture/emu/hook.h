/* SPDX-License-Identifier: MIT */
/* Calls of QEMU that lead to a function of the plugin instead. */
#ifndef PTC_CAPTURE_EMU_HOOK_H
#define PTC_CAPTURE_EMU_HOOK_H

#include <stdbool.h>

/*
 * Lets QEMU's entry for its import @name lead to @function. *ret_found: where the entry led before.
 * False: QEMU imports no such function.
 */
bool ptc_emu_hook(const char *name, void *function, void **ret_found);

#endif
