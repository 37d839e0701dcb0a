/* SPDX-License-Identifier: MIT */
/*
 * Computes where the sections of a kernel module's file (.ko) are placed when it is loaded. The
 * kernel links the file at that time, so the file itself does not tell.
 */
#ifndef PTC_DECODE_ELF_KO_LAYOUT_H
#define PTC_DECODE_ELF_KO_LAYOUT_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTC_MODULE_NOWHERE UINT64_MAX

/* Zeroed: nothing is known about any section. */
struct ptc_module_layout {
	uint64_t *places; /* owned; of each section, from the module's first byte on, or _NOWHERE */
	size_t n;
	uint64_t size; /* of all code */
};

/*
 * Place the sections of @elf that are code and stay loaded. Returns false if out of memory. If @elf
 * is no module, no section has a place: no error.
 */
bool ptc_module_layout(Elf *elf, struct ptc_module_layout *ret);
void ptc_module_layout_release(struct ptc_module_layout *l);

/* Returns the place of section @index, or PTC_MODULE_NOWHERE. */
uint64_t ptc_module_place(const struct ptc_module_layout *l, size_t index);

#endif
