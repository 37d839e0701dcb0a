/* SPDX-License-Identifier: MIT */
/* Reads the layout of a program or library: see ptcap/lookup.h. */
#ifndef PTC_DECODE_ELF_ELF_LAYOUT_H
#define PTC_DECODE_ELF_ELF_LAYOUT_H

#include "ptcap/lookup.h"

/*
 * Read the layout of the open file @fd, which is closed in any case. @name is for messages. On
 * success the caller owns *@ret. PTC_E_FORMAT: not an ELF file with code. PTC_E_NO_MEMORY.
 */
int ptc_elf_layout_read(int fd, const char *name, struct ptc_elf_layout **ret, struct ptc_err *err);

#endif
