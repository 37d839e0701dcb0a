/* SPDX-License-Identifier: MIT */
#include "decode/symbols/dwarf_units.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/elf_segments.h"

/* A unit takes a few hundred bytes in libdw, and some abbreviations. */
enum { UNIT_COST = 1 << 16 };

/* Gets the DIE of the next unit that may have lines. Returns false if there is none. */
static bool next_unit(Dwarf *dwarf, Dwarf_CU **cu, Dwarf_Die *ret)
{
	uint8_t type;

	/*
	 * The skeleton of a split unit has the lines. For the rest, libdw would open the .dwo file
	 * by name.
	 */
	while (!dwarf_get_units(dwarf, *cu, cu, NULL, &type, ret, NULL))
		if (type != DW_UT_type && type != DW_UT_split_type)
			return true;
	return false;
}

/*
 * Returns a section of debug information that libdw has decompressed: ".debug_NAME" or
 * ".zdebug_NAME".
 */
static struct ptc_cur section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	const char *is;
	Elf_Data *data;
	GElf_Shdr sh;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return ptc_cur_init("", 0);
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		is = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (!is || (strcmp(is, name) != 0 &&
			    (strncmp(is, ".z", 2) != 0 || strcmp(is + 2, name + 1) != 0)))
			continue;
		data = ptc_elf_memory_data(scn);
		if (data && data->d_buf)
			return ptc_cur_init(data->d_buf, data->d_size);
	}
	return ptc_cur_init("", 0);
}

static void no_room(const struct ptc_units *u)
{
	ptc_omitted_data_add(u->left, u->file, "rest of the source lines", 0);
}

/* Returns true if the memory budget allows libdw to read the lines of the unit. */
static bool fits_line_budget(const struct ptc_units *u, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word off;
	uint64_t cost;

	if (!dwarf_attr(die, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &off))
		return false;
	cost = ptc_linecost(&u->sections, off);
	if (ptc_budget_allows_fragile(cost))
		return true;
	if (cost != UINT64_MAX)
		no_room(u);
	return false;
}

/* Asks the budget only once: after that, libdw keeps the lines. */
bool ptc_units_may_read(struct ptc_units *u, size_t unit, Dwarf_Die *ret)
{
	struct ptc_unit *is = &u->units[unit];

	if (!dwarf_offdie(u->dwarf, is->die, ret))
		return false;
	if (!is->asked)
		is->room = fits_line_budget(u, ret);
	is->asked = true;
	return is->room;
}

static bool append_unit_range(struct ptc_units *u, uint64_t start, uint64_t end, size_t unit)
{
	if (start >= end)
		return true;
	if (!ptc_grow(&u->ranges, &u->cap, u->n + 1, sizeof(*u->ranges)))
		return false;
	u->ranges[u->n++] = (struct ptc_unit_range){ .start = start, .end = end, .unit = unit };
	return true;
}

/* For a unit without addresses: adds each sequence of rows, from its first row to its end. */
static bool add_sequences(struct ptc_units *u, size_t unit)
{
	Dwarf_Lines *lines;
	Dwarf_Die die;
	Dwarf_Addr addr, start = 0;
	bool ends = true, is_first = true, ok = true;
	size_t n, i;

	if (!ptc_units_may_read(u, unit, &die) || dwarf_getsrclines(&die, &lines, &n))
		return true;
	for (i = 0; ok && i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(row, &addr) || dwarf_lineendsequence(row, &ends))
			continue;
		if (is_first)
			start = addr;
		is_first = ends;
		if (ends)
			ok = append_unit_range(u, start, addr, unit);
	}
	return ok;
}

static bool add_unit(struct ptc_units *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	const size_t n = u->n, unit = u->nunits;
	ptrdiff_t at = 0;
	bool ok = true;

	if (!ptc_budget_allows_fragile(UNIT_COST) ||
	    !ptc_grow(&u->units, &u->units_cap, u->nunits + 1, sizeof(*u->units)))
		return false;
	u->units[u->nunits++] = (struct ptc_unit){ .die = dwarf_dieoffset(die) };
	while (ok && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		ok = append_unit_range(u, start, end, unit);
	return ok && u->n == n ? add_sequences(u, unit) : ok;
}

static int by_start(const void *pa, const void *pb)
{
	const struct ptc_unit_range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

void ptc_units_read(struct ptc_units *u, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	uint64_t reach = 0;
	Dwarf_Die die;
	size_t i;

	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;

	u->dwarf = dwarf;
	u->sections = (struct ptc_line_sections){ section(elf, ".debug_line"),
						  section(elf, ".debug_line_str"),
						  section(elf, ".debug_str") };
	while (dwarf && next_unit(dwarf, &cu, &die)) {
		u->has_go |= dwarf_srclang(&die) == DW_LANG_Go;
		if (!add_unit(u, &die)) {
			no_room(u);
			break;
		}
	}
	if (u->n)
		qsort(u->ranges, u->n, sizeof(*u->ranges), by_start);
	for (i = 0; i < u->n; i++) {
		reach = u->ranges[i].end > reach ? u->ranges[i].end : reach;
		u->ranges[i].reach = reach;
	}
}

void ptc_units_release(struct ptc_units *u)
{
	free(u->ranges);
	free(u->units);
	*u = (struct ptc_units){ .n = 0 };
}

/* Returns the row for @addr in the line table of @unit, or NULL. */
static Dwarf_Line *row_of(struct ptc_units *u, size_t unit, uint64_t addr)
{
	Dwarf_Die die;

	return ptc_units_may_read(u, unit, &die) ? dwarf_getsrc_die(&die, addr) : NULL;
}

bool ptc_units_next_at(const struct ptc_units *u, uint64_t addr, size_t *pos, size_t *ret_unit)
{
	size_t n = *pos;

	if (n == u->n)
		n = PTC_PARTITION_POINT(i, 0, u->n, u->ranges[i].start <= addr);
	for (; n && u->ranges[n - 1].reach > addr; n--) {
		if (u->ranges[n - 1].end <= addr)
			continue;
		*pos = n - 1;
		*ret_unit = u->ranges[n - 1].unit;
		return true;
	}
	return false;
}

const char *ptc_units_line(struct ptc_units *u, uint64_t addr, int *ret_line)
{
	size_t pos = u->n, unit;
	Dwarf_Line *row = NULL;
	int nr = 0;

	while (!row && ptc_units_next_at(u, addr, &pos, &unit))
		row = row_of(u, unit, addr);
	if (!row || dwarf_lineno(row, &nr) || !nr)
		return NULL;
	*ret_line = nr;
	return dwarf_linesrc(row, NULL, NULL);
}

const char *ptc_units_folder(struct ptc_units *u, uint64_t addr)
{
	size_t pos = u->n, unit;
	Dwarf_Attribute attr;
	Dwarf_Die die;

	while (ptc_units_next_at(u, addr, &pos, &unit))
		if (row_of(u, unit, addr) && ptc_units_may_read(u, unit, &die) &&
		    dwarf_attr(&die, DW_AT_comp_dir, &attr))
			return dwarf_formstring(&attr);
	return NULL;
}

/*
 * Returns true if row @i has code: the next row has another address. Rows of code that the linker
 * left out are at 0, or anywhere.
 */
static bool has_code(Dwarf_Lines *lines, size_t i, Elf *elf, uint64_t bias)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
	Dwarf_Addr addr, behind;
	bool ends = true;

	return !dwarf_lineendsequence(row, &ends) && !ends && !dwarf_lineaddr(row, &addr) &&
	       !dwarf_lineaddr(next, &behind) && behind != addr &&
	       ptc_segments_has_code(elf, addr + bias);
}

int ptc_units_each(struct ptc_units *u, Elf *elf, uint64_t bias,
		   int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	Dwarf_Lines *lines;
	size_t n, i, unit;
	Dwarf_Die die;
	int r = 0;

	for (unit = 0; !r && unit < u->nunits; unit++) {
		if (!ptc_units_may_read(u, unit, &die) || dwarf_getsrclines(&die, &lines, &n))
			continue;
		/* The last row ends a sequence. */
		for (i = 0; i + 1 < n && !r; i++) {
			const char *file = dwarf_linesrc(dwarf_onesrcline(lines, i), NULL, NULL);
			int nr = 0;

			if (file && !dwarf_lineno(dwarf_onesrcline(lines, i), &nr) && nr &&
			    has_code(lines, i, elf, bias))
				r = on_line(ctx, file, nr);
		}
	}
	return r;
}
