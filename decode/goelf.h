/* SPDX-License-Identifier: MIT */
/*
 * Finds Go's table of functions and lines (decode/gopclntab.h) in a program.
 *
 * Go's linker makes a section of it: .gopclntab, or .data.rel.ro.gopclntab if the program is
 * position-independent. If another linker was used (cgo), the table of such a program is somewhere
 * in .data.rel.ro: then it is searched for, and where there are no section headers.
 */
#ifndef PTC_DECODE_GOELF_H
#define PTC_DECODE_GOELF_H

#include <libelf.h>
#include <stdbool.h>

struct ptc_gopclntab;

/*
 * The table of @elf, with the addresses of that file. NULL: @elf was not made by Go, or no memory,
 * or the table cannot be used, because it is damaged or newer than this reader: then
 * *@ret_unusable is true.
 */
struct ptc_gopclntab *ptc_goelf_read(Elf *elf, bool *ret_unusable);

#endif
