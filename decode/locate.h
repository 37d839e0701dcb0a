/* SPDX-License-Identifier: MIT */
/* From a name to a place: where in an ELF file, or in the kernel, the code of a function is. */
#ifndef PTC_DECODE_LOCATE_H
#define PTC_DECODE_LOCATE_H

#include <stdint.h>

#include "decode/homonym.h"
#include "ptcap/error.h"

/* Where code is: a file offset, or an address of the kernel. */
struct ptc_extent {
	uint64_t start, size;
};

/*
 * The file offset of function @name of the ELF file @path. PTC_E_NOT_EXIST if it
 * has none of that name, PTC_E_USAGE if it has several, PTC_E_FORMAT if the file
 * is no ELF file.
 */
int ptc_locate_symbol(const char *path, const char *name, uint64_t *ret_off, struct ptc_err *err);

/* The same of a virtual address, as nm(1) and objdump(1) show it. */
int ptc_locate_addr(const char *path, uint64_t addr, uint64_t *ret_off, struct ptc_err *err);

/*
 * The same with the choice of homonym.h, and how long it is: if the symbol does not say, up to
 * the next function; 0: nobody knows.
 */
int ptc_locate_function(const char *path, const char *name, int which, struct ptc_extent *ret,
			struct ptc_err *err);

/* All of a file. */
int ptc_locate_whole(const char *path, struct ptc_extent *ret, struct ptc_err *err);

/*
 * Function @name of the kernel, by @kallsyms (/proc/kallsyms but for tests); NULL: all of its
 * code. PTC_E_PERM: it shows no addresses.
 */
int ptc_locate_kernel(const char *kallsyms, const char *name, int which, struct ptc_extent *ret,
		      struct ptc_err *err);

#endif
