/* SPDX-License-Identifier: MIT */
/* Redirects calls of QEMU to functions of the plugin. */
#ifndef PTC_CAPTURE_EMU_IMPORT_HOOK_H
#define PTC_CAPTURE_EMU_IMPORT_HOOK_H

#include <stdbool.h>

/*
 * Replaces QEMU's entry for its import @name by @function. *ret_found: the former target. Returns
 * false if QEMU does not import the function.
 */
bool ptc_emu_hook(const char *name, void *function, void **ret_found);

#endif
