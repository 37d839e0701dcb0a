/* SPDX-License-Identifier: MIT */
/* Finds the code of a function by name: in an ELF file, or in the kernel. */
#ifndef PTC_DECODE_SYMBOLS_SYMBOL_ADDRESS_H
#define PTC_DECODE_SYMBOLS_SYMBOL_ADDRESS_H

#include <stdint.h>

#include "decode/symbols/ambiguous_symbol.h"
#include "ptcap/error.h"

/* Position of code: a file offset, or an address of the kernel. */
struct ptc_extent {
	uint64_t start, size;
};

/*
 * Find the file offset of function @name in the ELF file @path. PTC_E_NOT_EXIST: no such function.
 * PTC_E_USAGE: several functions have this name. PTC_E_FORMAT: not an ELF file.
 */
int ptc_locate_symbol(const char *path, const char *name, uint64_t *ret_off, struct ptc_err *err);

/* Same, for a virtual address, as nm(1) and objdump(1) show it. */
int ptc_locate_addr(const char *path, uint64_t addr, uint64_t *ret_off, struct ptc_err *err);

/*
 * Same, with the choice of ambiguous_symbol.h and the size. If the symbol has no size, the function
 * extends to the next one. Size 0: unknown.
 */
int ptc_locate_function(const char *path, const char *name, int which, struct ptc_extent *ret,
			struct ptc_err *err);

/* Returns the extent of the whole file. */
int ptc_locate_whole(const char *path, struct ptc_extent *ret, struct ptc_err *err);

/*
 * Find function @name of the kernel in @kallsyms (/proc/kallsyms, except in tests). @name NULL: all
 * of its code. PTC_E_PERM: @kallsyms shows no addresses.
 */
int ptc_locate_kernel(const char *kallsyms, const char *name, int which, struct ptc_extent *ret,
		      struct ptc_err *err);

#endif
