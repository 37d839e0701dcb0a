/* SPDX-License-Identifier: MIT */
#include "decode/symbols/inline_frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "decode/elf/omitted_data.h"
#include "decode/symbols/dwarf_units.h"
#include "ptcap/lookup.h"

struct ptc_inline_unit {
	bool read; /* tried once */
	struct ptc_inline_scopes scopes;
};

enum { NAME_COST = 1 << 16 }; /* a demangled name is longer than a mangled one */

static void report_no_room(const struct ptc_units *u)
{
	ptc_omitted_data_add(u->left, u->file, "inlined functions", 0);
}

/* Returns the functions of unit @unit, or NULL. *@die: the unit's DIE. */
static struct ptc_inline_scopes *scopes_of(struct ptc_inline_units *iu, struct ptc_units *u,
					   size_t unit, Dwarf_Die *die)
{
	const uint64_t bytes = (uint64_t)u->nunits * sizeof(*iu->v);

	if (!iu->v && ptc_budget_allows(bytes)) {
		iu->v = calloc(u->nunits, sizeof(*iu->v));
		iu->n = iu->v ? u->nunits : 0;
	}
	if (!iu->v) {
		report_no_room(u);
		return NULL;
	}
	if (unit >= iu->n || !ptc_units_may_read(u, unit, die))
		return NULL;
	if (!iu->v[unit].read && !ptc_inline_scopes_read(&iu->v[unit].scopes, die, &iu->code))
		report_no_room(u);
	iu->v[unit].read = true;
	return &iu->v[unit].scopes;
}

/* Returns a string that @die or its origin has, or NULL. */
static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static void read_name(struct ptc_inline_scope *s, Dwarf_Die *die, bool mangled)
{
	s->name = text_of(die, DW_AT_linkage_name);
	if (!s->name)
		s->name = text_of(die, DW_AT_MIPS_linkage_name);
	if (!s->name)
		s->name = text_of(die, DW_AT_name);
	if (s->name && !mangled && ptc_budget_allows(NAME_COST))
		s->owned = ptc_demangle(s->name);
	s->name = s->owned ? s->owned : s->name;
}

/* Reads the place of the call that was inlined. @unit has a line table that may be read. */
static void read_call(struct ptc_inline_scope *s, Dwarf_Die *die, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	const char *name;
	size_t n;

	if (!dwarf_attr(die, DW_AT_call_file, &attr) || dwarf_formudata(&attr, &file) ||
	    !dwarf_attr(die, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) || !line ||
	    line > INT32_MAX || dwarf_getsrcfiles(unit, &files, &n) || file >= n)
		return;
	name = dwarf_filesrc(files, (size_t)file, NULL, NULL);
	if (!name || !strcmp(name, "???")) /* file 0 before DWARF 5 */
		return;
	s->call_file = name;
	s->call_line = (int)line;
}

static void read_scope(struct ptc_inline_scope *s, Dwarf *dwarf, Dwarf_Die *unit, bool mangled)
{
	Dwarf_Die die;

	if (s->named)
		return;
	s->named = true;
	if (!dwarf_offdie(dwarf, s->die, &die))
		return;
	read_name(s, &die, mangled);
	if (s->caller != PTC_INLINE_NONE)
		read_call(s, &die, unit);
}

size_t ptc_inline_frames_find(struct ptc_inline_units *iu, struct ptc_units *u, uint64_t addr,
			      bool mangled, struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	const struct ptc_inline_scopes *all = NULL;
	struct ptc_inline_scope *s = NULL;
	size_t pos = u->n, n = 0, unit;
	Dwarf_Die die;

	while (!s && ptc_units_next_at(u, addr, &pos, &unit)) {
		all = scopes_of(iu, u, unit, &die);
		s = all ? ptc_inline_scopes_find(all, addr) : NULL;
	}
	if (!s)
		return 0;
	frames[0].line = 0;
	frames[0].file = ptc_units_line(u, addr, &frames[0].line);
	for (;;) {
		read_scope(s, u->dwarf, &die, mangled);
		frames[n].scope = s->die;
		frames[n++].function = s->name;
		if (s->caller == PTC_INLINE_NONE || n == PTC_INLINE_MAX)
			break;
		frames[n].file = s->call_file;
		frames[n].line = s->call_line;
		s = &all->v[s->caller];
	}
	return n;
}

void ptc_inline_units_release(struct ptc_inline_units *iu)
{
	size_t i;

	for (i = 0; i < iu->n; i++)
		ptc_inline_scopes_release(&iu->v[i].scopes);
	free(iu->v);
	*iu = (struct ptc_inline_units){ .n = 0 };
}
