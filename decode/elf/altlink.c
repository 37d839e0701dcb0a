/* SPDX-License-Identifier: MIT */
#include "decode/elf/altlink.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "decode/elf/zstd_sections.h"

enum { INFO_NAME = 1, NAMES_NAME = INFO_NAME + sizeof(".debug_info") }; /* offsets in names */

/* An ELF file with one debug section that has no information. libelf only reads it. */
static struct empty {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[3];
	char names[32];
} empty = {
	.eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct empty, sh),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2 },
	.sh = { [1] = { .sh_name = INFO_NAME,
			.sh_type = SHT_PROGBITS,
			.sh_offset = offsetof(struct empty, names),
			.sh_size = 1,
			.sh_addralign = 1 },
		[2] = { .sh_name = NAMES_NAME,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct empty, names),
			.sh_size = sizeof(((struct empty *)NULL)->names),
			.sh_addralign = 1 } },
	.names = "\0.debug_info\0.shstrtab",
};

static bool open_alternate_dwarf(struct ptc_alternate *a, Elf *elf)
{
	a->elf = elf;
	a->dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	return a->dwarf;
}

/* Returns false, and keeps nothing, if @fd has no debug information. */
static bool take_file(struct ptc_alternate *a, int fd, const char *name,
		      struct ptc_omitted_data *left)
{
	fd = ptc_unzstd_fd(fd, name, left);
	if (fd < 0)
		return false;
	a->fd = fd;
	a->has_fd = true;
	if (open_alternate_dwarf(a, elf_begin(a->fd, ELF_C_READ, NULL)))
		return true;
	ptc_alternate_release(a);
	return false;
}

static bool take_empty(struct ptc_alternate *a)
{
	return open_alternate_dwarf(a, elf_memory((char *)&empty, sizeof(empty)));
}

bool ptc_alternate_set(struct ptc_alternate *a, Dwarf *dwarf, const struct ptc_search *s,
		       struct ptc_place_found file)
{
	struct ptc_build_id id = { .len = 0 };
	const char *name;
	const void *bits;
	ssize_t n;

	n = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bits) : 0;
	if (n <= 0)
		return true;
	if ((size_t)n <= sizeof(id.bytes)) {
		memcpy(id.bytes, bits, (size_t)n);
		id.len = (uint8_t)n;
	}
	if (!take_file(a, ptc_search_alternate(s, file, name, &id), name, s->left) &&
	    !take_empty(a))
		return false;
	dwarf_setalt(dwarf, a->dwarf);
	return true;
}

void ptc_alternate_release(struct ptc_alternate *a)
{
	if (a->dwarf)
		(void)dwarf_end(a->dwarf);
	(void)elf_end(a->elf);
	if (a->has_fd)
		(void)close(a->fd);
	*a = (struct ptc_alternate){ .dwarf = NULL };
}
