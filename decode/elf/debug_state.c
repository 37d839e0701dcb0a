/* SPDX-License-Identifier: MIT */
#include "decode/elf/debug_state.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/elf/debugfile.h"
#include "decode/elf/elf_memory.h"

static enum ptc_debug_has worth_of(const char *name, const GElf_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || !sh->sh_size)
		return PTC_DEBUG_EXPORTS;
	if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
		return PTC_DEBUG_LINES;
	return sh->sh_type == SHT_SYMTAB || !strcmp(name, ".gnu_debugdata") ? PTC_DEBUG_NAMES :
									      PTC_DEBUG_EXPORTS;
}

static enum ptc_debug_has find_best_section(Elf *elf)
{
	enum ptc_debug_has best = PTC_DEBUG_EXPORTS, one;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF)
		return PTC_DEBUG_UNREADABLE;
	if (elf_getshdrstrndx(elf, &names))
		return best;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		one = name ? worth_of(name, &sh) : best;
		best = one > best ? one : best;
	}
	return best;
}

/* Looks at the open file. @ret_link, if not NULL: the name of its debug file. */
static enum ptc_debug_has look_at(int fd, const char *name, struct ptc_debuglink *ret_link)
{
	enum ptc_debug_has ret;
	Elf *elf;

	if (!ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, name, NULL))
		return PTC_DEBUG_UNREADABLE;
	(void)elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return PTC_DEBUG_UNREADABLE;
	ret = find_best_section(elf);
	if (ret_link)
		ptc_debugfile_link(elf, ret_link);
	(void)elf_end(elf);
	return ret;
}

static void look_for_debug_file(const struct ptc_search *s, const struct ptc_found *f,
				const struct ptc_debuglink *link, struct ptc_debug_state *ret)
{
	const struct ptc_place_found at = { f->path, f->root };
	const int fd = ptc_search_debug(s, at, &ret->id, link, &ret->path);
	enum ptc_debug_has has;

	if (fd < 0)
		return;
	has = look_at(fd, ret->path, NULL);
	(void)close(fd);
	if (has > ret->has)
		ret->has = has;
}

void ptc_debug_state_find(const struct ptc_search *s, const char *name, int32_t pid,
			  struct ptc_debug_state *ret)
{
	const struct ptc_build_id unknown = { .len = 0 };
	struct ptc_debuglink link = { .crc = 0 };
	struct ptc_found f = { .fd = -1 };

	memset(ret, 0, sizeof(*ret));
	ptc_search_file(s, name, &unknown, pid, &f);
	if (f.fd >= 0) {
		(void)ptc_elf_build_id_fd(f.fd, f.len, &ret->id);
		ret->has = look_at(f.fd, name, &link);
	}
	if (ret->has != PTC_DEBUG_UNREADABLE && ret->has != PTC_DEBUG_LINES)
		look_for_debug_file(s, &f, &link, ret);
	ptc_found_release(&f);
}

void ptc_debug_state_release(struct ptc_debug_state *d)
{
	free(d->path);
	memset(d, 0, sizeof(*d));
}
