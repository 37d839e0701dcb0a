/* SPDX-License-Identifier: MIT */
/* The mappings of an emulated program, as far as QEMU's process shows them. */
#ifndef PTC_CAPTURE_EMU_GUEST_VIEW_H
#define PTC_CAPTURE_EMU_GUEST_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/host/maps.h"

/*
 * Computes the guest's mappings from those of QEMU's process, @host, and from the @known mappings
 * of the guest: all files that it mapped, and all code. @base: the host's address of the guest's
 * address 0. QEMU's own mappings are left out. A mapping of data in no file, at an address where
 * the kernel places QEMU's own, may be left out too. Replaces the contents of @ret, in guest
 * addresses. Returns false if memory is exhausted.
 */
bool ptc_emu_guest_view(const struct ptc_maps *host, const struct ptc_maps *known, uint64_t base,
			struct ptc_maps *ret);

#endif
