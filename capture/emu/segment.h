/* SPDX-License-Identifier: MIT */
/* The memory that ptcap shares with the plugin (wire.h), made by ptcap. */
#ifndef PTC_CAPTURE_EMU_SEGMENT_H
#define PTC_CAPTURE_EMU_SEGMENT_H

#include "capture/emu/wire.h"
#include "ptcap/error.h"

/*
 * Makes a segment with room for @arena bytes of code. QEMU finds it by its number, *@ret_id, so
 * nothing has to be inherited, and no file size limit counts. It is gone when the last process that
 * has it attached ends; the caller detaches it with shmdt.
 */
int ptc_emu_segment_new(uint64_t arena, int *ret_id, struct ptc_emu_shared **ret,
			struct ptc_err *err);

#endif
