/* SPDX-License-Identifier: MIT */
/*
 * Is the ptcap that a recording belongs to still there? ptcap holds a robust mutex in the shared
 * memory, whose owner's death the kernel notes there. That is seen from every PID namespace and
 * root directory. Used by the plugin, too.
 */
#ifndef PTC_CAPTURE_EMU_OWNER_H
#define PTC_CAPTURE_EMU_OWNER_H

#include <stdbool.h>

#include "capture/emu/wire.h"

/* The calling thread owns @sh until it says ptc_emu_disown, or dies. Returns an errno. */
int ptc_emu_own(struct ptc_emu_shared *sh);
void ptc_emu_disown(struct ptc_emu_shared *sh);

bool ptc_emu_owner_lives(struct ptc_emu_shared *sh);

#endif
