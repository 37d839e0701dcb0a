/* SPDX-License-Identifier: MIT */
/*
 * Where the sections of a kernel module's file (.ko) come to lie when it is
 * loaded: the kernel links it there and then, so the file does not say.
 */
#ifndef PTC_DECODE_MODULE_H
#define PTC_DECODE_MODULE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTC_MODULE_NOWHERE UINT64_MAX

/* Zeroed: of no section anything is known. */
struct ptc_module_layout {
	uint64_t *places; /* owned; by section, from the module's first byte on, or _NOWHERE */
	size_t n;
	uint64_t size; /* of all code */
};

/*
 * Of those sections of @elf that are code and stay. False: out of memory. It is no error if it is
 * no module: then no section has a place.
 */
bool ptc_module_layout(Elf *elf, struct ptc_module_layout *ret);
void ptc_module_layout_release(struct ptc_module_layout *l);

/* The place of section @index, or PTC_MODULE_NOWHERE. */
uint64_t ptc_module_place(const struct ptc_module_layout *l, size_t index);

#endif
