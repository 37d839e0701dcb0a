/* SPDX-License-Identifier: MIT */
/* Finds the code of a function by name: in an ELF file, or in the kernel. */
#ifndef PTCAP_LOCATE_H
#define PTCAP_LOCATE_H

#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The choice among functions of one name: the only one; the only global one; or the n-th by
 * address, from 1.
 */
enum { PTC_WHICH_ONLY = -1, PTC_WHICH_GLOBAL = 0 };

/* Position of code: a file offset, or an address of the kernel. */
struct ptc_extent {
	uint64_t start, size;
};

/*
 * Find the file offset of function @name in the ELF file @path. PTC_E_NOT_EXIST: no such function.
 * PTC_E_USAGE: several functions have this name. PTC_E_FORMAT: not an ELF file.
 */
PTC_API int ptc_locate_symbol(const char *path, const char *name, uint64_t *ret_off,
			      struct ptc_err *err);

/* Same, for a virtual address, as nm(1) and objdump(1) show it. */
PTC_API int ptc_locate_addr(const char *path, uint64_t addr, uint64_t *ret_off,
			    struct ptc_err *err);

/*
 * Same, with a choice by @which (PTC_WHICH_ONLY) and the size. If the symbol has no size, the
 * function extends to the next one. Size 0: unknown.
 */
PTC_API int ptc_locate_function(const char *path, const char *name, int which,
				struct ptc_extent *ret, struct ptc_err *err);

/* Returns the extent of the whole file. */
PTC_API int ptc_locate_whole(const char *path, struct ptc_extent *ret, struct ptc_err *err);

/*
 * Find function @name of the kernel in @kallsyms (/proc/kallsyms, except in tests). @name NULL: all
 * of its code. PTC_E_PERM: @kallsyms shows no addresses.
 */
PTC_API int ptc_locate_kernel(const char *kallsyms, const char *name, int which,
			      struct ptc_extent *ret, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
