/* SPDX-License-Identifier: MIT */
/* The function symbols of one ELF image. */
#ifndef PTC_DECODE_SYMBOL_H
#define PTC_DECODE_SYMBOL_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_addrspace;
struct ptc_codefile;
struct ptc_symtab;

/* Read .symtab, .dynsym and the PLT of an image. NULL: none, or no memory. */
struct ptc_symtab *ptc_symtab_new(const uint8_t *image, size_t len);
/* The same of the file that was found for @f, and, if it was stripped, of its debug file. */
struct ptc_symtab *ptc_symtab_of_file(const struct ptc_codefile *f);
/*
 * Of the kernel module @f: of its .ko, if that is found, by offsets in the module's memory. Where
 * it was looked for is noted in @f.
 */
struct ptc_symtab *ptc_symtab_of_module(struct ptc_codefile *f);
void ptc_symtab_free(struct ptc_symtab *t);

/* How good a name is that of @sym: functions before labels, global before weak before local. */
uint8_t ptc_symbol_rank(const GElf_Sym *sym);

/* The function at file offset @off, as the linker calls it. Lent from the table; NULL: none. */
const char *ptc_symtab_find(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off);

/*
 * The function at @ip of a process, demangled unless the store says otherwise. Reads
 * a file's table when first asked for it, and demangles a name when it is first found.
 */
const char *ptc_symbol_at(const struct ptc_addrspace *as, uint64_t ip, uint64_t *ret_off);

#endif
