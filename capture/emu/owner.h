/* SPDX-License-Identifier: MIT */
/* Is the ptcap that a recording belongs to still there? Used by the plugin, too. */
#ifndef PTC_CAPTURE_EMU_OWNER_H
#define PTC_CAPTURE_EMU_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/emu/wire.h"

/* When process @pid was started, in ticks (proc(5), stat, field 22); 0: it is gone, or a zombie. */
uint64_t ptc_emu_start_time(int pid);

bool ptc_emu_owner_lives(const struct ptc_emu_shared *sh);

#endif
