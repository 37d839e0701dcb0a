/* SPDX-License-Identifier: MIT */
#include "decode/units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "decode/grow.h"
#include "decode/segments.h"

/* The next unit that may have lines, or false. *@ret is its DIE. */
static bool next_unit(Dwarf *dwarf, Dwarf_CU **cu, Dwarf_Die *ret)
{
	uint8_t type;

	/* Lines are in the skeleton of a split unit. Libdw opens its .dwo file by name if asked for
	 * the rest. */
	while (!dwarf_get_units(dwarf, *cu, cu, NULL, &type, ret, NULL))
		if (type != DW_UT_type && type != DW_UT_split_type)
			return true;
	return false;
}

static bool add(struct ptc_units *u, uint64_t start, uint64_t end, Dwarf_Off unit)
{
	if (start >= end)
		return true;
	if (!ptc_grow(&u->ranges, &u->cap, u->n + 1, sizeof(*u->ranges)))
		return false;
	u->ranges[u->n++] = (struct ptc_unit_range){ .start = start, .end = end, .unit = unit };
	return true;
}

/* Of a unit that does not say where its code is: from the first row of each sequence to its end. */
static bool add_sequences(struct ptc_units *u, Dwarf_Die *die)
{
	Dwarf_Lines *lines;
	Dwarf_Addr addr, start = 0;
	bool ends = true, is_first = true, ok = true;
	size_t n, i;

	if (dwarf_getsrclines(die, &lines, &n))
		return true;
	for (i = 0; ok && i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(row, &addr) || dwarf_lineendsequence(row, &ends))
			continue;
		if (is_first)
			start = addr;
		is_first = ends;
		if (ends)
			ok = add(u, start, addr, dwarf_dieoffset(die));
	}
	return ok;
}

static bool add_unit(struct ptc_units *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	const size_t n = u->n;
	ptrdiff_t at = 0;
	bool ok = true;

	while (ok && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		ok = add(u, start, end, dwarf_dieoffset(die));
	return ok && u->n == n ? add_sequences(u, die) : ok;
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

	u->dwarf = dwarf;
	while (dwarf && next_unit(dwarf, &cu, &die)) {
		u->has_go |= dwarf_srclang(&die) == DW_LANG_Go;
		if (!add_unit(u, &die))
			break;
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
	*u = (struct ptc_units){ .n = 0 };
}

/* The line table of @unit has a row for @addr, or NULL. */
static Dwarf_Line *row_of(const struct ptc_units *u, Dwarf_Off unit, uint64_t addr)
{
	Dwarf_Die die;

	return dwarf_offdie(u->dwarf, unit, &die) ? dwarf_getsrc_die(&die, addr) : NULL;
}

const char *ptc_units_line(const struct ptc_units *u, uint64_t addr, int *ret_line)
{
	size_t lo = 0, hi = u->n, mid;
	Dwarf_Line *row = NULL;
	int nr = 0;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (u->ranges[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; !row && lo && u->ranges[lo - 1].reach > addr; lo--)
		if (u->ranges[lo - 1].end > addr)
			row = row_of(u, u->ranges[lo - 1].unit, addr);
	if (!row || dwarf_lineno(row, &nr) || !nr)
		return NULL;
	*ret_line = nr;
	return dwarf_linesrc(row, NULL, NULL);
}

/* A row has code if the next one is at another address. What the linker left out is at 0, or
 * anywhere. */
static bool has_code(Dwarf_Lines *lines, size_t i, Elf *elf, uint64_t bias)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
	Dwarf_Addr addr, behind;
	bool ends = true;

	return !dwarf_lineendsequence(row, &ends) && !ends && !dwarf_lineaddr(row, &addr) &&
	       !dwarf_lineaddr(next, &behind) && behind != addr &&
	       ptc_segments_has_code(elf, addr + bias);
}

int ptc_units_each(Dwarf *dwarf, Elf *elf, uint64_t bias,
		   int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t n, i;
	int r = 0;

	while (!r && dwarf && next_unit(dwarf, &cu, &die)) {
		if (dwarf_getsrclines(&die, &lines, &n))
			continue;
		/* The last row is the end of a sequence. */
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
