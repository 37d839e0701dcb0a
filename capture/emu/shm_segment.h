/* SPDX-License-Identifier: MIT */
/* Creates the memory that ptcap shares with the plugin (shm_protocol.h). */
#ifndef PTC_CAPTURE_EMU_SHM_SEGMENT_H
#define PTC_CAPTURE_EMU_SHM_SEGMENT_H

#include "capture/emu/shm_protocol.h"
#include "ptcap/error.h"

/*
 * Creates a segment with space for @arena bytes of code. QEMU finds it by its number *@ret_id: no
 * descriptor is inherited, and no file size limit applies. It is destroyed when the last attached
 * process ends. The caller detaches it with shmdt.
 */
int ptc_emu_segment_new(uint64_t arena, int *ret_id, struct ptc_emu_shared **ret,
			struct ptc_err *err);

#endif
