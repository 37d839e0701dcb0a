/* SPDX-License-Identifier: MIT */
/* Symbols that were stripped from a file: kept in another file, or packed into a section. */
#ifndef PTC_DECODE_ELF_DEBUGFILE_H
#define PTC_DECODE_ELF_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>

#include "decode/elf/file_search.h"

struct ptc_omitted_data;
struct ptc_unpacked;

/* Read .gnu_debuglink of @elf. Empty name: there is none. */
void ptc_debugfile_link(Elf *elf, struct ptc_debuglink *ret);

/* As ptc_debugfile_link, for the open file @fd. @name is for the memory budget. */
void ptc_debugfile_link_fd(int fd, const char *name, struct ptc_debuglink *ret);

/* Reference from debug information to an alternate file (dwz, .gnu_debugaltlink). */
struct ptc_alternate_link {
	char name[1024];
	struct ptc_build_id id;
};

/* Read .gnu_debugaltlink of the open file @fd. Returns false if there is none. */
bool ptc_debugfile_alternate(int fd, const char *name, struct ptc_alternate_link *ret);

/*
 * Unpack the ELF file in .gnu_debugdata of @elf, which is @file: symbols of a stripped file. Caller
 * releases *@ret. Returns false if there is none. Also false if memory is missing: then @left gets
 * a line.
 */
bool ptc_debugfile_mini(Elf *elf, const char *file, struct ptc_omitted_data *left,
			struct ptc_unpacked *ret);

#endif
