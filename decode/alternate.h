/* SPDX-License-Identifier: MIT */
/*
 * The alternate debug file of a file (dwz, .gnu_debugaltlink). Libdw would open it by its name,
 * whatever has that name: so each Dwarf that refers to one gets it from here, or an empty one.
 */
#ifndef PTC_DECODE_ALTERNATE_H
#define PTC_DECODE_ALTERNATE_H

#include <elfutils/libdw.h>

#include "decode/search.h"

/* Zeroed: none. */
struct ptc_alternate {
	Dwarf *dwarf; /* owned */
	Elf *elf;     /* owned; of dwarf */
	int fd;	      /* owned; of elf, if it is a file */
	bool has_fd;
};

/*
 * Gives @dwarf, of the file @file, its alternate, if it refers to one. @a must live as long as
 * @dwarf is read. False: there is no memory to keep libdw from looking for it; do not read @dwarf.
 */
bool ptc_alternate_set(struct ptc_alternate *a, Dwarf *dwarf, const struct ptc_search *s,
		       struct ptc_place_found file);

/* After the end of the Dwarf that it was given to. */
void ptc_alternate_release(struct ptc_alternate *a);

#endif
