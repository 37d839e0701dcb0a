/* SPDX-License-Identifier: MIT */
/* Names of the stubs through which one file calls into another. */
#ifndef PTC_DECODE_PLT_H
#define PTC_DECODE_PLT_H

#include <libelf.h>
#include <stdbool.h>

struct ptc_symtab;

/*
 * Add "NAME@plt" for what the linker put into the .plt sections of @elf (x86-64;
 * others have none here): by the slot of the GOT that a stub jumps through, or by
 * the number it pushes. @t must be sorted, and must be again. False: no memory.
 */
bool ptc_plt_add(struct ptc_symtab *t, Elf *elf);

#endif
