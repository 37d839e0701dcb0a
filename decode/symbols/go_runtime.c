/* SPDX-License-Identifier: MIT */
#include "decode/symbols/go_runtime.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "decode/elf/elf_memory.h"

enum { DIES_MAX = 4 << 20, VARINT_MAX = 5, NAME_MAX_LEN = 1 << 12 };

/* --- the layout --- */

struct wanted {
	const char *type, *member;
	size_t at; /* in struct ptc_go_layout */
};

/* Go 1.21 moved runtime._type to internal/abi. */
static const struct wanted wanted[] = {
	{ "runtime.g", "_panic", offsetof(struct ptc_go_layout, g_panic) },
	{ "runtime.g", "goid", offsetof(struct ptc_go_layout, g_goid) },
	{ "runtime._panic", "arg", offsetof(struct ptc_go_layout, panic_arg) },
	{ "runtime._panic", "goexit", offsetof(struct ptc_go_layout, panic_goexit) },
	{ "runtime._type", "tflag", offsetof(struct ptc_go_layout, type_tflag) },
	{ "runtime._type", "kind", offsetof(struct ptc_go_layout, type_kind) },
	{ "runtime._type", "str", offsetof(struct ptc_go_layout, type_str) },
	{ "internal/abi.Type", "TFlag", offsetof(struct ptc_go_layout, type_tflag) },
	{ "internal/abi.Type", "Kind_", offsetof(struct ptc_go_layout, type_kind) },
	{ "internal/abi.Type", "Str", offsetof(struct ptc_go_layout, type_str) },
};

enum {
	WANTED = sizeof(wanted) / sizeof(wanted[0]),
	OF_G_AND_PANIC = 0xf, /* the first of these, as bits */
	OF_TYPE = 0x70,
	OF_ABI_TYPE = 0x380,
};

struct layout_search {
	struct ptc_go_layout *layout;
	unsigned int found; /* bits: members of the table */
	size_t left;	    /* entries that may still be read */
};

static bool is_complete(const struct layout_search *s)
{
	return (s->found & OF_G_AND_PANIC) == OF_G_AND_PANIC &&
	       ((s->found & OF_TYPE) == OF_TYPE || (s->found & OF_ABI_TYPE) == OF_ABI_TYPE);
}

static void take_member(struct layout_search *s, const char *type, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attr;
	Dwarf_Word off;
	size_t i;

	if (!name || !dwarf_attr(die, DW_AT_data_member_location, &attr) ||
	    dwarf_formudata(&attr, &off))
		return;
	for (i = 0; i < WANTED; i++)
		if (!strcmp(wanted[i].type, type) && !strcmp(wanted[i].member, name)) {
			memcpy((uint8_t *)s->layout + wanted[i].at, &off, sizeof(off));
			s->found |= 1U << i;
		}
}

static bool is_wanted_type(const char *name)
{
	size_t i;

	for (i = 0; name && i < WANTED; i++)
		if (!strcmp(wanted[i].type, name))
			return true;
	return false;
}

static void take_type(struct layout_search *s, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die die;
	int r;

	for (r = dwarf_child(type, &die); !r && s->left; r = dwarf_siblingof(&die, &die)) {
		s->left--;
		take_member(s, name, &die);
	}
}

static void take_unit(struct layout_search *s, Dwarf_Die *unit)
{
	Dwarf_Die die;
	int r;

	for (r = dwarf_child(unit, &die); !r && s->left && !is_complete(s);
	     r = dwarf_siblingof(&die, &die)) {
		s->left--;
		if (dwarf_tag(&die) == DW_TAG_structure_type && is_wanted_type(dwarf_diename(&die)))
			take_type(s, &die);
	}
}

bool ptc_go_runtime_layout(Dwarf *dwarf, struct ptc_go_layout *ret)
{
	struct ptc_go_layout layout = { .g_panic = 0 };
	struct layout_search s = { &layout, 0, DIES_MAX };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	const char *name;

	while (dwarf && s.left && !is_complete(&s) &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL)) {
		name = dwarf_diename(&unit);
		s.left--;
		if (name && !strcmp(name, "runtime")) /* the unit with the types of all packages */
			take_unit(&s, &unit);
	}
	if (!is_complete(&s))
		return false;
	*ret = layout;
	return true;
}

/* --- names of types --- */

/* Gets the address of the runtime's types, in the ELF file. */
static bool find_types(Dwfl_Module *mod, uint64_t *ret)
{
	const int n = dwfl_module_getsymtab(mod);
	GElf_Addr addr, bias;
	const char *name;
	GElf_Sym sym;
	int i;

	for (i = 0; i < n; i++) {
		name = dwfl_module_getsym_info(mod, i, &sym, &addr, NULL, NULL, &bias);
		if (name && !strcmp(name, "runtime.types")) {
			*ret = sym.st_value;
			return true;
		}
	}
	return false;
}

/* Returns the bytes of a section from @addr on; empty: none. */
static struct ptc_cur section_at(Elf *elf, uint64_t addr)
{
	Elf_Scn *scn = NULL;
	const Elf_Data *data;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_PROGBITS || addr < h.sh_addr ||
		    addr - h.sh_addr >= h.sh_size)
			continue;
		data = ptc_elf_memory_data(scn);
		if (!data || !data->d_buf || addr - h.sh_addr >= data->d_size)
			break;
		return ptc_cur_init((const uint8_t *)data->d_buf + (addr - h.sh_addr),
				    data->d_size - (size_t)(addr - h.sh_addr));
	}
	return ptc_cur_init(NULL, 0);
}

bool ptc_go_runtime_name(struct ptc_cur c, char *ret, size_t size)
{
	size_t len = 0, i, n;
	const uint8_t *p = c.pos;

	for (i = 0; i < VARINT_MAX && i + 1 < ptc_cur_left(&c); i++) {
		len |= (size_t)(p[1 + i] & 0x7f) << (7 * i);
		if (!(p[1 + i] & 0x80))
			break;
	}
	if (i == VARINT_MAX || i + 2 > ptc_cur_left(&c) || !len || len > NAME_MAX_LEN ||
	    len > ptc_cur_left(&c) - (i + 2))
		return false;
	n = len < size ? len : size - 1;
	memcpy(ret, p + i + 2, n);
	ret[n] = '\0';
	return strlen(ret) == n && ptc_is_text(ret);
}

bool ptc_go_runtime_type(Dwfl_Module *mod, uint32_t name, char *ret, size_t size)
{
	GElf_Addr bias;
	uint64_t types;
	Elf *elf = mod ? dwfl_module_getelf(mod, &bias) : NULL;

	return elf && find_types(mod, &types) &&
	       ptc_go_runtime_name(section_at(elf, types + name), ret, size);
}
