/* SPDX-License-Identifier: MIT */
/* From a name to a place: where in an ELF file the code of a function is. */
#ifndef PTC_DECODE_LOCATE_H
#define PTC_DECODE_LOCATE_H

#include <stdint.h>

#include "ptcap/error.h"

/*
 * The file offset of function @name of the ELF file @path. PTC_E_NOT_EXIST if it
 * has none of that name, PTC_E_USAGE if it has several, PTC_E_FORMAT if the file
 * is no ELF file.
 */
int ptc_locate_symbol(const char *path, const char *name, uint64_t *ret_off, struct ptc_err *err);

/* The same of a virtual address, as nm(1) and objdump(1) show it. */
int ptc_locate_addr(const char *path, uint64_t addr, uint64_t *ret_off, struct ptc_err *err);

#endif
