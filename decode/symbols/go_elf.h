/* SPDX-License-Identifier: MIT */
/*
 * Finds Go's table of functions and lines (decode/symbols/gopclntab.h) in a program.
 *
 * Go's linker puts it into a section: .gopclntab, or .data.rel.ro.gopclntab if the program is
 * position-independent. If another linker was used (cgo), the table of such a program is somewhere
 * in .data.rel.ro. Then the segments are searched for it, and also if there are no section headers.
 */
#ifndef PTC_DECODE_SYMBOLS_GO_ELF_H
#define PTC_DECODE_SYMBOLS_GO_ELF_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct ptc_gopclntab;

/*
 * Returns the table of @elf, a file of @size bytes, with the addresses of that file. NULL: @elf was
 * not made by Go, or its table is not usable. *@ret_unusable tells the second case: the table is
 * damaged or newer than this reader, or memory is missing.
 */
struct ptc_gopclntab *ptc_goelf_read(Elf *elf, uint64_t size, bool *ret_unusable);

#endif
