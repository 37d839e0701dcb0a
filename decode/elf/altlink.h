/* SPDX-License-Identifier: MIT */
/*
 * The alternate debug file of a file (dwz, .gnu_debugaltlink). libdw would open any file that has
 * the recorded name. So each Dwarf that refers to an alternate file gets it from here, or gets an
 * empty one.
 */
#ifndef PTC_DECODE_ELF_ALTLINK_H
#define PTC_DECODE_ELF_ALTLINK_H

#include <elfutils/libdw.h>

#include "decode/elf/file_search.h"

/* Zeroed: none. */
struct ptc_alternate {
	Dwarf *dwarf; /* owned */
	Elf *elf;     /* owned; the ELF handle of dwarf */
	int fd;	      /* owned; the file of elf; valid if has_fd */
	bool has_fd;
};

/*
 * If @dwarf, of the file @file, refers to an alternate file, attach it. @a must outlive the use of
 * @dwarf. Returns false if memory is missing for an empty one, too. Then do not read @dwarf: libdw
 * would search for the file itself.
 */
bool ptc_alternate_set(struct ptc_alternate *a, Dwarf *dwarf, const struct ptc_search *s,
		       struct ptc_place_found file);

/* Call after dwarf_end() of the Dwarf that uses @a. */
void ptc_alternate_release(struct ptc_alternate *a);

#endif
