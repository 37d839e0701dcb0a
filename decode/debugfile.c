/* SPDX-License-Identifier: MIT */
#include "decode/debugfile.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "decode/srcline.h"
#include "decode/symbol.h"
#include "decode/symtab.h"

static Elf_Data *section(Elf *elf, const char *wanted)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (name && !strcmp(name, wanted) && sh.sh_type != SHT_NOBITS)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

/* A name with its NUL, padded to 4, and a CRC. */
void ptc_debugfile_link(Elf *elf, struct ptc_debuglink *ret)
{
	Elf_Data *data = section(elf, ".gnu_debuglink");
	size_t len;

	*ret = (struct ptc_debuglink){ .crc = 0 };
	if (!data || !data->d_buf)
		return;
	len = strnlen(data->d_buf, data->d_size);
	if (len >= sizeof(ret->name) || (len / 4 + 1) * 4 + 4 > data->d_size)
		return;
	memcpy(ret->name, data->d_buf, len);
	ret->crc = ptc_le32((const uint8_t *)data->d_buf + (len / 4 + 1) * 4);
}

bool ptc_debugfile_has_mini(Elf *elf)
{
	return section(elf, ".gnu_debugdata");
}

static int no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)mod;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)ret;
	return -1;
}

static const char *function(Dwfl_Module *mod, int i, GElf_Sym *ret)
{
	GElf_Addr addr, bias;
	GElf_Word shndx;
	const char *name = dwfl_module_getsym_info(mod, i, ret, &addr, &shndx, NULL, &bias);
	const unsigned int type = GELF_ST_TYPE(ret->st_info);

	return name && *name && ret->st_shndx != SHN_UNDEF &&
			       (type == STT_FUNC || type == STT_GNU_IFUNC) ?
		       name :
		       NULL;
}

static bool add_all(struct ptc_symtab *t, Dwfl_Module *mod)
{
	const int n = dwfl_module_getsymtab(mod);
	size_t len = 0, at = 0, size;
	const char *name;
	GElf_Sym sym;
	char *room;
	int i;

	for (i = 0; i < n; i++)
		len += (name = function(mod, i, &sym)) != NULL ? strlen(name) + 1 : 0;
	room = len ? ptc_symtab_room(t, len) : NULL;
	for (i = 0; room && i < n; i++) {
		name = function(mod, i, &sym);
		size = name ? strlen(name) + 1 : 0;
		if (!name || size > len - at)
			continue;
		memcpy(room + at, name, size);
		if (!ptc_symtab_add(t, &(struct ptc_symbol){ .addr = sym.st_value,
							     .size = sym.st_size,
							     .name = room + at,
							     .rank = ptc_symbol_rank(&sym) }))
			return false;
		at += size;
	}
	return true;
}

bool ptc_debugfile_add_mini(struct ptc_symtab *t, int fd)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = ptc_srcline_find_elf,
		.find_debuginfo = no_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod = NULL;
	bool ok = true;
	int own;

	if (!dwfl)
		return true;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own >= 0)
		mod = dwfl_report_offline(dwfl, "", "", own);
	if (own >= 0 && !mod)
		(void)close(own);
	if (mod && !dwfl_report_end(dwfl, NULL, NULL))
		ok = add_all(t, mod);
	dwfl_end(dwfl);
	return ok;
}
