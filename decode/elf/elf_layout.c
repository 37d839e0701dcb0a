/* SPDX-License-Identifier: MIT */
#include "decode/elf/elf_layout.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/elf_segments.h"

enum { PLTS_MAX = 4 };

struct ptc_elf_layout {
	int fd;	  /* owned */
	Elf *elf; /* owned */
	uint64_t file_base, code_base;
	struct {
		uint64_t start, end;
	} plts[PLTS_MAX];
	size_t nplts;
};

static void find_plts(struct ptc_elf_layout *l)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(l->elf, &names))
		return;
	while (l->nplts < PLTS_MAX && (scn = elf_nextscn(l->elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(l->elf, names, sh.sh_name) : NULL;
		if (!name || strncmp(name, ".plt", strlen(".plt")) != 0)
			continue;
		l->plts[l->nplts].start = sh.sh_addr;
		l->plts[l->nplts++].end = sh.sh_addr + sh.sh_size;
	}
}

int ptc_elf_layout_read(int fd, const char *name, struct ptc_elf_layout **ret, struct ptc_err *err)
{
	struct ptc_elf_layout *l = calloc(1, sizeof(*l));

	if (!l) {
		(void)close(fd);
		return ptc_fail(err, PTC_E_NO_MEMORY, "out of memory");
	}
	l->fd = fd;
	(void)elf_version(EV_CURRENT);
	if (ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, name, NULL))
		l->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!l->elf || !ptc_segments_bases(l->elf, &l->file_base, &l->code_base)) {
		ptc_elf_layout_free(l);
		return ptc_fail(err, PTC_E_FORMAT, "'%s' is not an ELF file with code", name);
	}
	find_plts(l);
	*ret = l;
	return 0;
}

void ptc_elf_layout_free(struct ptc_elf_layout *l)
{
	if (!l)
		return;
	(void)elf_end(l->elf);
	(void)close(l->fd);
	free(l);
}

bool ptc_elf_layout_address(const struct ptc_elf_layout *l, uint64_t off, uint64_t *ret)
{
	return ptc_segments_address(l->elf, off, ret);
}

bool ptc_elf_layout_is_plt(const struct ptc_elf_layout *l, uint64_t addr)
{
	size_t i;

	for (i = 0; i < l->nplts; i++)
		if (addr >= l->plts[i].start && addr < l->plts[i].end)
			return true;
	return false;
}

uint64_t ptc_elf_layout_file_base(const struct ptc_elf_layout *l)
{
	return l->file_base;
}

uint64_t ptc_elf_layout_code_base(const struct ptc_elf_layout *l)
{
	return l->code_base;
}
