/* SPDX-License-Identifier: MIT */
/*
 * Tracks the mappings of an emulated process from its system calls. /proc cannot be used, because
 * QEMU maps the guest's code without PROT_EXEC.
 */
#ifndef PTC_CAPTURE_EMU_GUEST_MAPS_H
#define PTC_CAPTURE_EMU_GUEST_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/emu/shm_protocol.h"
#include "capture/host/maps.h"

/* Called for @map, an entry of @maps, which is now executable. */
typedef void ptc_space_tell(void *ctx, const struct ptc_maps *maps, const struct ptc_map *map);

/*
 * Applies @change to @maps; @name is the file's name ("": none). Calls @tell for each mapping that
 * became executable. False: out of memory.
 */
bool ptc_space_apply(struct ptc_maps *maps, const struct ptc_emu_map *change, const char *name,
		     ptc_space_tell *tell, void *ctx);

/* Copies @from to @to, which must be empty, as a fork does. False: out of memory. */
bool ptc_space_copy(struct ptc_maps *to, const struct ptc_maps *from);

#endif
