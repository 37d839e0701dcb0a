/* SPDX-License-Identifier: MIT */
/*
 * What an emulated process has mapped, from what its system calls did: no file in
 * /proc tells, because QEMU maps the guest's code without PROT_EXEC.
 */
#ifndef PTC_CAPTURE_EMU_SPACE_H
#define PTC_CAPTURE_EMU_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/emu/wire.h"
#include "capture/maps.h"

/* @map, a piece of @maps, became executable, or was mapped so. */
typedef void ptc_space_tell(void *ctx, const struct ptc_maps *maps, const struct ptc_map *map);

/*
 * Apply @change, of the file called @name ("": none), to @maps. @tell is called
 * for what became executable. False: out of memory.
 */
bool ptc_space_apply(struct ptc_maps *maps, const struct ptc_emu_map *change, const char *name,
		     ptc_space_tell *tell, void *ctx);

/* @to, empty, becomes a copy of @from, as by a fork. False: out of memory. */
bool ptc_space_copy(struct ptc_maps *to, const struct ptc_maps *from);

#endif
