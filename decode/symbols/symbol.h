/* SPDX-License-Identifier: MIT */
/* The function symbols of one ELF image. */
#ifndef PTC_DECODE_SYMBOLS_SYMBOL_H
#define PTC_DECODE_SYMBOLS_SYMBOL_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_addrspace;
struct ptc_codefile;
struct ptc_kernel;
struct ptc_kernel_maps;
struct ptc_symtab;

/* Reads .symtab, .dynsym and the PLT of an image. NULL: no symbols, or out of memory. */
struct ptc_symtab *ptc_symtab_new(const uint8_t *image, size_t len);
/* The same for the file found for @f, and for its debug file if it was stripped. */
struct ptc_symtab *ptc_symtab_of_file(const struct ptc_codefile *f);
/*
 * The same for the kernel module @f, from its .ko file if that is found. Offsets are those in the
 * module's memory. Sets assumed, other_path and other_id of @f.
 */
struct ptc_symtab *ptc_symtab_of_module(struct ptc_codefile *f);

/* Returns the rank of a name: functions before labels; global before weak before local. */
uint8_t ptc_symbol_rank(const GElf_Sym *sym);

/*
 * Returns the function at @ip of a process, demangled unless the store says otherwise. A file's
 * table is read when first needed. A name is demangled when first found.
 */
const char *ptc_symbol_at(const struct ptc_addrspace *as, uint64_t ip, uint64_t *ret_off);

/* Returns the name at @ip at @time (lent), and the offset into it. NULL: unknown. */
const char *ptc_kernel_symbol(const struct ptc_kernel *k, const struct ptc_kernel_maps *maps,
			      uint64_t ip, uint64_t time, uint64_t *ret_off);

#endif
