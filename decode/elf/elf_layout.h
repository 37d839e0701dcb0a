/* SPDX-License-Identifier: MIT */
/*
 * The layout of a program or library: from offsets in its file to virtual addresses, where they
 * begin, and which addresses are in a PLT.
 */
#ifndef PTC_DECODE_ELF_ELF_LAYOUT_H
#define PTC_DECODE_ELF_ELF_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

struct ptc_elf_layout;

/*
 * Read the layout of the open file @fd, which is closed in any case. @name is for messages. On
 * success the caller owns *@ret. PTC_E_FORMAT: not an ELF file with code. PTC_E_NO_MEMORY.
 */
int ptc_elf_layout_read(int fd, const char *name, struct ptc_elf_layout **ret, struct ptc_err *err);
/* @l may be NULL. */
void ptc_elf_layout_free(struct ptc_elf_layout *l);

/* Gets the virtual address of the code at file offset @off. Returns false if no segment has it. */
bool ptc_elf_layout_address(const struct ptc_elf_layout *l, uint64_t off, uint64_t *ret);

/* Returns whether the virtual address @addr is in a section .plt, .plt.got or .plt.sec. */
bool ptc_elf_layout_is_plt(const struct ptc_elf_layout *l, uint64_t addr);

/* Returns the virtual address where the file begins, according to its first segment. */
uint64_t ptc_elf_layout_file_base(const struct ptc_elf_layout *l);
/* Returns the page where the first executable segment begins. */
uint64_t ptc_elf_layout_code_base(const struct ptc_elf_layout *l);

#endif
