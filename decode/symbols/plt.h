/* SPDX-License-Identifier: MIT */
/* Names of PLT stubs, through which one file calls functions in another. */
#ifndef PTC_DECODE_SYMBOLS_PLT_H
#define PTC_DECODE_SYMBOLS_PLT_H

#include <libelf.h>
#include <stdbool.h>

struct ptc_symtab;

/*
 * Adds "NAME@plt" for each stub in the .plt sections of @elf (x86-64 only). The name comes from the
 * GOT slot that a stub jumps through, or from the number it pushes. @t must be sorted before, and
 * must be sorted again after the call. Returns false if out of memory.
 */
bool ptc_plt_add(struct ptc_symtab *t, Elf *elf);

#endif
