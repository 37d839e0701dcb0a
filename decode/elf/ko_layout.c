/* SPDX-License-Identifier: MIT */
#include "decode/elf/ko_layout.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "decode/elf/elf_memory.h"

/* No module has more code: all modules share 1.5 GiB of addresses. */
enum { CODE_MAX = 1 << 30 };

void ptc_module_layout_release(struct ptc_module_layout *l)
{
	free(l->places);
	memset(l, 0, sizeof(*l));
}

uint64_t ptc_module_place(const struct ptc_module_layout *l, size_t index)
{
	return index < l->n ? l->places[index] : PTC_MODULE_NOWHERE;
}

static const char *section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t names;

	return elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, sh->sh_name);
}

/* Is @word a word of vermagic ("6.1.0 SMP preempt mod_unload modversions")? */
static bool has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);
	const char *p;

	for (p = strstr(text, word); p; p = strstr(p + n, word))
		if (p != text && p[-1] == ' ' && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

/*
 * Can modules of that kernel be unloaded (CONFIG_MODULE_UNLOAD)? .modinfo has strings "KEY=VALUE".
 */
static bool can_unload(Elf_Scn *modinfo)
{
	static const char key[] = "vermagic=";
	Elf_Data *data = ptc_elf_memory_data(modinfo);
	const char *p = data ? data->d_buf : NULL, *end = p ? p + data->d_size : NULL;

	for (; p && p < end; p += strlen(p) + 1) {
		if (!memchr(p, '\0', (size_t)(end - p)))
			break;
		if (!strncmp(p, key, sizeof(key) - 1))
			return has_word(p, "mod_unload");
	}
	return false;
}

static bool begins_with(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/*
 * Code comes first, in the order of the sections, without sections that are freed after
 * initialization. If modules cannot be unloaded, sections for the exit are freed, too
 * (kernel/module/main.c, layout_sections and module_init_layout_section).
 */
static bool stays(const GElf_Shdr *sh, const char *name, bool unload)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

	return (sh->sh_flags & code) == code && !begins_with(name, ".init") &&
	       (unload || !begins_with(name, ".exit"));
}

/* Place a section. Returns false if it does not fit. */
static bool put_behind(uint64_t *size, const GElf_Shdr *sh, uint64_t *ret)
{
	const uint64_t align = sh->sh_addralign ? sh->sh_addralign : 1;
	uint64_t at;

	if ((align & (align - 1)) || align > CODE_MAX || sh->sh_size > CODE_MAX)
		return false;
	at = (*size + align - 1) & ~(align - 1);
	if (at + sh->sh_size > CODE_MAX)
		return false;
	*ret = at;
	*size = at + sh->sh_size;
	return true;
}

/* Place all sections. Returns false if one is damaged: then later places are unknown. */
static bool place_all(Elf *elf, bool unload, struct ptc_module_layout *l)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? section_name(elf, &sh) : NULL;
		if (!name)
			return false;
		if (stays(&sh, name, unload) &&
		    !put_behind(&l->size, &sh, &l->places[elf_ndxscn(scn)]))
			return false;
	}
	return true;
}

static Elf_Scn *find_modinfo(Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? section_name(elf, &sh) : NULL;
		if (name && !strcmp(name, ".modinfo") && sh.sh_type == SHT_PROGBITS)
			return scn;
	}
	return NULL;
}

bool ptc_module_layout(Elf *elf, struct ptc_module_layout *ret)
{
	Elf_Scn *modinfo = find_modinfo(elf);
	GElf_Ehdr eh;
	size_t n, i;

	memset(ret, 0, sizeof(*ret));
	if (!modinfo || !gelf_getehdr(elf, &eh) || eh.e_type != ET_REL ||
	    eh.e_machine != EM_X86_64 || elf_getshdrnum(elf, &n) || !n)
		return true;
	ret->places = calloc(n, sizeof(*ret->places));
	if (!ret->places)
		return false;
	for (i = 0; i < n; i++)
		ret->places[i] = PTC_MODULE_NOWHERE;
	ret->n = n;
	if (!place_all(elf, can_unload(modinfo), ret))
		ptc_module_layout_release(ret);
	return true;
}
