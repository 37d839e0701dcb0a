/* SPDX-License-Identifier: MIT */
/* Symbols that were taken out of a file: into another one, or packed into itself. */
#ifndef PTC_DECODE_DEBUGFILE_H
#define PTC_DECODE_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>

#include "decode/search.h"

struct ptc_symtab;

/* What .gnu_debuglink of @elf says; an empty name: nothing. */
void ptc_debugfile_link(Elf *elf, struct ptc_debuglink *ret);

/* Has @elf a .gnu_debugdata, the packed symbols of a file whose others were taken out? */
bool ptc_debugfile_has_mini(Elf *elf);

/* Add the symbols of all sorts that libdwfl finds in @fd (lent) itself. False: no memory. */
bool ptc_debugfile_add_mini(struct ptc_symtab *t, int fd);

#endif
