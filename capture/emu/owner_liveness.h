/* SPDX-License-Identifier: MIT */
/*
 * Detects the death of the ptcap that owns a recording. ptcap holds a robust mutex in the shared
 * memory. When the owner dies, the kernel marks that mutex. Processes in every PID namespace and
 * root directory can see this. Used by the plugin too.
 */
#ifndef PTC_CAPTURE_EMU_OWNER_LIVENESS_H
#define PTC_CAPTURE_EMU_OWNER_LIVENESS_H

#include <stdbool.h>

#include "capture/emu/shm_protocol.h"

/* Makes the calling thread the owner of @sh until ptc_emu_disown or its death. Returns an errno. */
int ptc_emu_own(struct ptc_emu_shared *sh);
void ptc_emu_disown(struct ptc_emu_shared *sh);

bool ptc_emu_owner_lives(struct ptc_emu_shared *sh);

#endif
