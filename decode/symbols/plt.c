/* SPDX-License-Identifier: MIT */
#include "decode/symbols/plt.h"

#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/grow.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/symtab.h"

static const char behind_name[] = "@plt";

/* A slot of the GOT, and the symbol that it will point to. */
struct slot {
	uint64_t addr;
	const char *name; /* lent */
};

struct plt {
	struct ptc_symtab *t;
	Elf *elf;
	size_t names;	    /* index of the section with section names */
	struct slot *slots; /* owned; first those of .rela.plt, in its order */
	size_t n, cap, nlazy;
	struct slot *by_addr; /* owned; slots, sorted by address */
	char *room;	      /* NULL: first pass, only count names */
	size_t len;	      /* length of the names so far */
};

static const char *section_name(const struct plt *p, const GElf_Shdr *sh)
{
	const char *name = elf_strptr(p->elf, p->names, sh->sh_name);

	return name ? name : "";
}

/* Returns the symbol name of @rela, or NULL if it has none that helps. */
static const char *name_of(const struct plt *p, const GElf_Rela *rela, Elf_Data *syms,
			   size_t strings)
{
	const uint32_t type = (uint32_t)GELF_R_TYPE(rela->r_info);
	const uint64_t i = GELF_R_SYM(rela->r_info);
	const struct ptc_symbol *s;
	const char *name;
	GElf_Sym sym;

	if (type == R_X86_64_IRELATIVE) {
		s = ptc_symtab_exact(p->t, (uint64_t)rela->r_addend);
		return s ? s->name : NULL;
	}
	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || !syms || i > INT32_MAX ||
	    !gelf_getsym(syms, (int)i, &sym))
		return NULL;
	name = elf_strptr(p->elf, strings, sym.st_name);
	return name && *name ? name : NULL;
}

static bool add_slots(struct plt *p, Elf_Scn *scn, const GElf_Shdr *sh, bool lazy)
{
	Elf_Scn *syms_scn = elf_getscn(p->elf, sh->sh_link);
	Elf_Data *data = ptc_elf_memory_data(scn);
	Elf_Data *syms = NULL;
	GElf_Shdr syms_sh = { .sh_link = 0 };
	GElf_Rela rela;
	const char *name;
	int i;

	if (sh->sh_link && gelf_getshdr(syms_scn, &syms_sh) && syms_sh.sh_type == SHT_DYNSYM)
		syms = ptc_elf_memory_data(syms_scn);
	for (i = 0; data && gelf_getrela(data, i, &rela); i++) {
		name = name_of(p, &rela, syms, syms_sh.sh_link);
		if (!name && !lazy)
			continue;
		if (!ptc_grow(&p->slots, &p->cap, p->n + 1, sizeof(*p->slots)))
			return false;
		p->slots[p->n++] = (struct slot){ rela.r_offset, name };
	}
	return true;
}

static bool read_slots(struct plt *p)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		while ((scn = elf_nextscn(p->elf, scn)) != NULL) {
			if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
			    !(sh.sh_flags & SHF_ALLOC) ||
			    !strcmp(section_name(p, &sh), ".rela.plt") != !pass)
				continue;
			if (!add_slots(p, scn, &sh, !pass))
				return false;
		}
		if (!pass)
			p->nlazy = p->n;
	}
	return true;
}

static int by_addr(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static const char *at_slot(const struct plt *p, uint64_t addr)
{
	const struct slot key = { .addr = addr };
	const struct slot *s = bsearch(&key, p->by_addr, p->n, sizeof(key), by_addr);

	return s ? s->name : NULL;
}

/*
 * Returns the name of the stub @code at @addr. Its code is [endbr64] [bnd] jmp *SLOT(%rip), or
 * [endbr64] push $NUMBER.
 */
static const char *stub_name(const struct plt *p, const uint8_t *code, size_t len, uint64_t addr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (len >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	if (at + 5 <= len && code[at] == 0x68) {
		const uint32_t number = ptc_le32(code + at + 1);

		return number < p->nlazy ? p->slots[number].name : NULL;
	}
	at += at < len && code[at] == 0xf2;
	if (at + 6 > len || code[at] != 0xff || code[at + 1] != 0x25)
		return NULL;
	return at_slot(p, addr + at + 6 + (uint64_t)(int64_t)(int32_t)ptc_le32(code + at + 2));
}

static bool add_stub(struct plt *p, uint64_t addr, uint64_t size, const char *name)
{
	const size_t len = strlen(name), room = len + sizeof(behind_name);
	const size_t at = p->len;
	char *to;

	p->len += room;
	if (!p->room)
		return true;
	to = p->room + at;
	memcpy(to, name, len + 1);
	memcpy(to + len, behind_name, sizeof(behind_name));
	return ptc_symtab_add(p->t, &(struct ptc_symbol){ .addr = addr, .size = size, .name = to });
}

static bool walk_section(struct plt *p, Elf_Scn *scn, const GElf_Shdr *sh)
{
	const size_t step = sh->sh_entsize == 8 ? 8 : 16;
	Elf_Data *data = ptc_elf_memory_data(scn);
	const size_t len = data && data->d_buf ? data->d_size : 0;
	const char *name;
	size_t at;

	for (at = 0; at + step <= len; at += step) {
		name = stub_name(p, (const uint8_t *)data->d_buf + at, step, sh->sh_addr + at);
		if (name && !add_stub(p, sh->sh_addr + at, step, name))
			return false;
	}
	return true;
}

static bool walk_plt_sections(struct plt *p)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(p->elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
		    (sh.sh_flags & SHF_EXECINSTR) && !strncmp(section_name(p, &sh), ".plt", 4) &&
		    !walk_section(p, scn, &sh))
			return false;
	return true;
}

static bool sort_slots(struct plt *p)
{
	p->by_addr = calloc(p->n, sizeof(*p->by_addr));
	if (!p->by_addr)
		return false;
	memcpy(p->by_addr, p->slots, p->n * sizeof(*p->by_addr));
	qsort(p->by_addr, p->n, sizeof(*p->by_addr), by_addr);
	return true;
}

bool ptc_plt_add(struct ptc_symtab *t, Elf *elf)
{
	struct plt p = { .t = t, .elf = elf };
	GElf_Ehdr eh;
	bool ok;

	if (!gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64 ||
	    elf_getshdrstrndx(elf, &p.names))
		return true;
	ok = read_slots(&p);
	if (ok && p.n) {
		ok = sort_slots(&p) && walk_plt_sections(&p);
		p.room = ok && p.len ? ptc_symtab_room(t, p.len) : NULL;
		p.len = 0;
		if (p.room)
			ok = walk_plt_sections(&p);
	}
	free(p.by_addr);
	free(p.slots);
	return ok;
}
