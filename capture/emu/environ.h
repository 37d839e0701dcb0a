/* SPDX-License-Identifier: MIT */
/*
 * The environment of an emulated program on its way through QEMU. QEMU, the dynamic loader and the
 * libraries that QEMU runs on must heed no variable of the program, whatever its name and value.
 * So each string goes through QEMU with another top bit in its first byte. The plugin turns that
 * bit over again before the program's first instruction (begin.c). Used by ptcap and by the plugin.
 */
#ifndef PTC_CAPTURE_EMU_ENVIRON_H
#define PTC_CAPTURE_EMU_ENVIRON_H

#include <stdbool.h>

/*
 * Copies @env, NULL-terminated, with hidden names. @turn: last string first, for a QEMU that turns
 * the order round. free() frees the list and its strings. NULL: out of memory.
 */
char **ptc_emu_environ_hide(char *const *env, bool turn);

/* Hides the name of @string, or shows a hidden one again. */
void ptc_emu_environ_flip(char *string);

#endif
