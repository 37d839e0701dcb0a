/* SPDX-License-Identifier: MIT */
/*
 * The units of a file's debug information, by the addresses of their code. The section
 * .debug_aranges lists the addresses, but not every compiler writes it. So the units themselves are
 * read.
 */
#ifndef PTC_DECODE_SYMBOLS_DWARF_UNITS_H
#define PTC_DECODE_SYMBOLS_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/elf/omitted_data.h"
#include "decode/symbols/line_table_memory.h"

struct ptc_unit {
	Dwarf_Off die; /* offset in .debug_info */
	bool asked;    /* its lines were checked against the memory budget: */
	bool room;
};

/* Code of a unit: [start, end). */
struct ptc_unit_range {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this range and all earlier ones */
	size_t unit;	/* index of the unit */
};

struct ptc_units {
	Dwarf *dwarf;	  /* lent */
	const char *file; /* lent; its file name, and the list of parts left out */
	struct ptc_omitted_data *left;
	struct ptc_line_sections sections; /* of dwarf */
	struct ptc_unit *units;		   /* owned; in the order of the file */
	size_t nunits, units_cap;
	struct ptc_unit_range *ranges; /* owned; by ascending start */
	size_t n, cap;
	bool has_go; /* a unit is written in Go */
};

/*
 * @u must be zeroed except for file and left. @dwarf (may be NULL) must outlive it. Parts without
 * enough memory are left out, and reported to @u->left.
 */
void ptc_units_read(struct ptc_units *u, Dwarf *dwarf);
void ptc_units_release(struct ptc_units *u);

/*
 * Finds the source line of the code at @addr, an address in the Dwarf. Returns the file's name,
 * which the Dwarf owns, or NULL if not known. Line number 0 counts as not known: the compiler
 * states that the code belongs to no line.
 */
const char *ptc_units_line(struct ptc_units *u, uint64_t addr, int *ret_line);

/*
 * Gets the next unit with code at @addr. *@pos is the place of the search, and starts as @u->n.
 * Returns false if there is no other unit.
 */
bool ptc_units_next_at(const struct ptc_units *u, uint64_t addr, size_t *pos, size_t *ret_unit);

/*
 * Gets the DIE of unit @unit. Returns false if the unit has no line table, or one that the memory
 * budget does not allow.
 */
bool ptc_units_may_read(struct ptc_units *u, size_t unit, Dwarf_Die *ret);

/*
 * Returns the folder in which the compiler ran for the code at @addr, which the Dwarf owns: names
 * of source files may be relative to this folder. NULL: not known.
 */
const char *ptc_units_folder(struct ptc_units *u, uint64_t addr);

/*
 * Calls @on_line for each line with code in @elf, whose addresses are @bias above those in the
 * Dwarf. A line comes as often as it is in the tables. Stops at a non-zero value of @on_line and
 * returns it.
 */
int ptc_units_each(struct ptc_units *u, Elf *elf, uint64_t bias,
		   int (*on_line)(void *ctx, const char *file, int line), void *ctx);

#endif
