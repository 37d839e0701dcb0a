/* SPDX-License-Identifier: MIT */
/*
 * Hides the program's environment from QEMU. QEMU, the dynamic loader and QEMU's libraries must not
 * react to the program's variables. So the top bit of each string's first byte is inverted. The
 * plugin inverts that bit again before the program's first instruction (program_start.c). Used by
 * ptcap and by the plugin.
 */
#ifndef PTC_CAPTURE_EMU_HIDDEN_ENVIRON_H
#define PTC_CAPTURE_EMU_HIDDEN_ENVIRON_H

#include <stdbool.h>

/*
 * Copies @env, NULL-terminated, with hidden names. @turn: last string first, for a QEMU that
 * reverses the order. free() frees the list and its strings. NULL: out of memory.
 */
char **ptc_emu_environ_hide(char *const *env, bool turn);

/* Hides the name of @string, or reveals a hidden name. */
void ptc_emu_environ_flip(char *string);

#endif
