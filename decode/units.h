/* SPDX-License-Identifier: MIT */
/*
 * The units of a file's debug information, by the addresses of their code. .debug_aranges lists
 * these, but not every compiler writes it: the units themselves say where their code is.
 */
#ifndef PTC_DECODE_UNITS_H
#define PTC_DECODE_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/leftout.h"
#include "decode/linecost.h"

struct ptc_unit {
	Dwarf_Off die; /* in .debug_info */
	bool asked;    /* whether there is memory for its lines: */
	bool room;
};

/* Code of a unit: [start, end). */
struct ptc_unit_range {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this range and those in front of it */
	size_t unit;	/* its index */
};

struct ptc_units {
	Dwarf *dwarf;	  /* lent */
	const char *file; /* lent; what it is of, and who is told that there is no memory for it */
	struct ptc_leftout *left;
	struct ptc_line_sections sections; /* of dwarf */
	struct ptc_unit *units;		   /* owned; in the order of the file */
	size_t nunits, units_cap;
	struct ptc_unit_range *ranges; /* owned; ascending start */
	size_t n, cap;
	bool has_go; /* a unit is of Go */
};

/*
 * @u is zeros, but for file and left. @dwarf (may be NULL) must outlive it. What memory is missing
 * for is left out, which @u->left is told.
 */
void ptc_units_read(struct ptc_units *u, Dwarf *dwarf);
void ptc_units_release(struct ptc_units *u);

/*
 * The source line of the code at @addr, as the Dwarf has addresses. Returns its file's name, which
 * the Dwarf owns; NULL: not known. A line with number 0 is none: the compiler says that the code is
 * of no line.
 */
const char *ptc_units_line(struct ptc_units *u, uint64_t addr, int *ret_line);

/*
 * Calls @on_line for each line that has code in @elf, whose addresses are @bias above those of the
 * Dwarf. A line comes as often as the tables have it. Returns what @on_line returned, if that is
 * not 0.
 */
int ptc_units_each(struct ptc_units *u, Elf *elf, uint64_t bias,
		   int (*on_line)(void *ctx, const char *file, int line), void *ctx);

#endif
