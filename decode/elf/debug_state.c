/* SPDX-License-Identifier: MIT */
#include "ptcap/debug_state.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "decode/elf/debugfile.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/file_search.h"

struct ptc_debug_search {
	struct ptc_search search;
	struct ptc_debug_state state; /* of the newest file */
	char *path;		      /* owned; state.path */
};

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

static void look_for_debug_file(struct ptc_debug_search *s, const struct ptc_found *f,
				const struct ptc_debuglink *link)
{
	const struct ptc_place_found at = { f->path, f->root };
	const int fd = ptc_search_debug(&s->search, at, &s->state.id, link, &s->path);
	enum ptc_debug_has has;

	s->state.path = s->path;
	if (fd < 0)
		return;
	has = look_at(fd, s->path, NULL);
	(void)close(fd);
	if (has > s->state.has)
		s->state.has = has;
}

/* Forgets the newest file. */
static void reset_state(struct ptc_debug_search *s)
{
	free(s->path);
	s->path = NULL;
	memset(&s->state, 0, sizeof(s->state));
}

int ptc_debug_search_new(const char *symfs, struct ptc_debug_search **ret, struct ptc_err *err)
{
	struct ptc_debug_search *s = calloc(1, sizeof(*s));
	const int rc = s ? ptc_search_init(&s->search, symfs, NULL, NULL, err) : ptc_fail_mem(err);

	if (rc)
		ptc_debug_search_free(s);
	else
		*ret = s;
	return rc;
}

void ptc_debug_search_free(struct ptc_debug_search *s)
{
	if (!s)
		return;
	reset_state(s);
	ptc_search_release(&s->search);
	free(s);
}

const struct ptc_debug_state *ptc_debug_search_file(struct ptc_debug_search *s, const char *name,
						    int32_t pid)
{
	const struct ptc_build_id unknown = { .len = 0 };
	struct ptc_debuglink link = { .crc = 0 };
	struct ptc_debug_state *state = &s->state;
	struct ptc_found f = { .fd = -1 };

	reset_state(s);
	ptc_search_file(&s->search, name, &unknown, pid, &f);
	if (f.fd >= 0) {
		(void)ptc_elf_build_id_fd(f.fd, f.len, &state->id);
		state->has = look_at(f.fd, name, &link);
	}
	if (state->has != PTC_DEBUG_UNREADABLE && state->has != PTC_DEBUG_LINES)
		look_for_debug_file(s, &f, &link);
	ptc_found_release(&f);
	return state;
}
