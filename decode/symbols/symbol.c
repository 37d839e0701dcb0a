/* SPDX-License-Identifier: MIT */
#include "decode/symbols/symbol.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "decode/elf/debugfile.h"
#include "decode/elf/decompress.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/ko_layout.h"
#include "decode/elf/omitted_data.h"
#include "decode/elf/symtab.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/image/kernel.h"
#include "decode/symbols/go_elf.h"
#include "decode/symbols/gopclntab.h"
#include "decode/symbols/plt.h"
#include "ptcap/lookup.h"

enum {
	VDSO_MAX = 1 << 20,
	GO_RANK = 3, /* like a local function */
};

static bool in_code(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr sh;

	return sym->st_shndx < SHN_LORESERVE && gelf_getshdr(elf_getscn(elf, sym->st_shndx), &sh) &&
	       (sh.sh_flags & SHF_EXECINSTR);
}

uint8_t ptc_symbol_rank(const GElf_Sym *sym)
{
	static const uint8_t by_bind[] = { [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1 };
	const unsigned int type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const uint8_t by = bind <= STB_WEAK ? by_bind[bind] : 3;

	return (uint8_t)((type == STT_FUNC || type == STT_GNU_IFUNC ? 1 : 5) + by);
}

/* Returns the rank of a function, or of an untyped assembler label in code. 0: neither. */
static uint8_t rank_of(Elf *elf, const GElf_Sym *sym)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF)
		return 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && in_code(elf, sym)))
		return ptc_symbol_rank(sym);
	return 0;
}

/* Assemblers leave these symbols to separate code from data: $x, $d, $x.1 */
static bool is_mapping_symbol(const char *name)
{
	return *name == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Returns the end of the section: a symbol without a size ends there. */
static uint64_t section_end(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr sh;
	uint64_t end;

	return sym->st_shndx < SHN_LORESERVE && gelf_getshdr(elf_getscn(elf, sym->st_shndx), &sh) &&
			       !__builtin_add_overflow(sh.sh_addr, sh.sh_size, &end) ?
		       end :
		       0;
}

/* Copies string table @index and adds a NUL; NULL: no table, or out of memory. */
static const char *copy_strings(struct ptc_symtab *t, Elf *elf, size_t index, size_t *ret_len)
{
	Elf_Data *data = ptc_elf_memory_data(elf_getscn(elf, index));
	char *copy = data && data->d_buf && data->d_size < SIZE_MAX ?
			     ptc_symtab_room(t, data->d_size + 1) :
			     NULL;

	if (!copy)
		return NULL;
	memcpy(copy, data->d_buf, data->d_size);
	copy[data->d_size] = '\0';
	*ret_len = data->d_size;
	return copy;
}

/* Converts an offset in a section to an offset in the module. Returns false if unknown. */
static bool settle(const struct ptc_module_layout *l, Elf *elf, size_t index, struct ptc_symbol *s)
{
	const uint64_t place = ptc_module_place(l, index);
	GElf_Shdr sh;

	if (place == PTC_MODULE_NOWHERE || !gelf_getshdr(elf_getscn(elf, index), &sh) ||
	    s->addr >= sh.sh_size)
		return false;
	s->addr += place;
	s->end = s->size ? 0 : place + sh.sh_size;
	return true;
}

/* @l: the layout of module @elf; NULL: @elf is no module. */
static bool add_section(struct ptc_symtab *t, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
			const struct ptc_module_layout *l)
{
	Elf_Data *data = ptc_elf_memory_data(scn);
	size_t len = 0;
	const char *strings = data ? copy_strings(t, elf, sh->sh_link, &len) : NULL;
	GElf_Sym sym;
	int i;

	for (i = 0; strings && gelf_getsym(data, i, &sym); i++) {
		const uint8_t rank = rank_of(elf, &sym);
		struct ptc_symbol s = { .addr = sym.st_value, .size = sym.st_size, .rank = rank };

		s.name = rank && sym.st_name < len ? strings + sym.st_name : "";
		if (!*s.name || is_mapping_symbol(s.name))
			continue;
		if (!s.size)
			s.end = section_end(elf, &sym);
		if (l && !settle(l, elf, sym.st_shndx, &s))
			continue;
		if (!ptc_symtab_add(t, &s))
			return false;
	}
	return true;
}

static bool add_segments_with(struct ptc_symtab *t, Elf *elf, uint32_t executable)
{
	GElf_Phdr ph;
	size_t n, i;

	if (elf_getphdrnum(elf, &n))
		return true;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) == executable &&
		    !ptc_symtab_add_segment(t, ph.p_offset, ph.p_filesz, ph.p_vaddr))
			return false;
	return true;
}

/* The first segment with an offset counts, so executable ones come first: look-ups are for code. */
static bool add_segments(struct ptc_symtab *t, Elf *elf)
{
	return add_segments_with(t, elf, PF_X) && add_segments_with(t, elf, 0);
}

/* Adds both symbol tables of @elf. *ret_all: .symtab exists, which has all symbols. */
static bool add_symbols(struct ptc_symtab *t, Elf *elf, const struct ptc_module_layout *l,
			bool *ret_all)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	*ret_all = false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		if (!add_section(t, elf, scn, &sh, l))
			return false;
		*ret_all |= sh.sh_type == SHT_SYMTAB;
	}
	return true;
}

/*
 * Opens ELF file @fd (lent), which is @f or has the names of @f. NULL: no ELF file, or out of
 * memory.
 */
static Elf *open_elf(int fd, const struct ptc_codefile *f)
{
	/* Read, not mapped: the file may be truncated later. */
	return ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, f->name, f->store->search.left) ?
		       elf_begin(fd, ELF_C_READ, NULL) :
		       NULL;
}

/* Adds the symbols from section .gnu_debugdata of @own. */
static bool add_mini(struct ptc_symtab *t, const struct ptc_codefile *f, Elf *own)
{
	struct ptc_unpacked u;
	bool all, ok = true;
	Elf *elf;

	if (!ptc_debugfile_mini(own, f->name, f->store->search.left, &u))
		return true;
	elf = open_elf(u.fd, f);
	if (elf)
		ok = add_symbols(t, elf, NULL, &all);
	(void)elf_end(elf);
	ptc_unpacked_release(&u);
	return ok;
}

/* Adds the symbols of the separate debug file, or else those from .gnu_debugdata of @own. */
static bool add_debug(struct ptc_symtab *t, const struct ptc_codefile *f, int own, Elf *own_elf,
		      bool *ret_all)
{
	struct ptc_build_id id = f->id;
	struct ptc_debuglink link;
	bool ok = true;
	Elf *elf;
	int fd;

	if (!id.len)
		(void)ptc_elf_build_id_fd(own, f->len, &id);
	ptc_debugfile_link(own_elf, &link);
	fd = ptc_search_debug(&f->store->search, (struct ptc_place_found){ f->path, f->root }, &id,
			      &link, NULL);
	if (fd < 0)
		return add_mini(t, f, own_elf);
	elf = open_elf(fd, f);
	if (elf)
		ok = add_symbols(t, elf, NULL, ret_all);
	(void)elf_end(elf);
	(void)close(fd);
	return ok;
}

static bool add_functions(struct ptc_symtab *t, const struct ptc_gopclntab *go)
{
	const size_t len = ptc_cur_left(&go->names);
	char *names = ptc_symtab_room(t, len + 1);
	struct ptc_go_func f;
	size_t i;

	if (!names)
		return true;
	memcpy(names, go->names.pos, len);
	names[len] = 0;
	for (i = 0; i < go->n; i++) {
		if (!ptc_gopclntab_func(go, i, &f) || !f.size)
			continue;
		if (!ptc_symtab_add(t, &(struct ptc_symbol){ .addr = f.addr,
							     .size = f.size,
							     .name = names + f.name,
							     .rank = GO_RANK }))
			return false;
	}
	return true;
}

/* A stripped Go program still has the names that the Go runtime needs. */
static bool add_go(struct ptc_symtab *t, Elf *elf, uint64_t size)
{
	struct ptc_gopclntab *go = ptc_goelf_read(elf, size, &t->unusable_go);
	const bool ok = !go || add_functions(t, go);

	ptc_gopclntab_free(go);
	return ok;
}

static bool fill(struct ptc_symtab *t, Elf *elf, uint64_t size, const struct ptc_codefile *f,
		 int fd)
{
	bool all;

	if (!add_segments(t, elf) || !add_symbols(t, elf, NULL, &all) ||
	    (!all && f && !add_debug(t, f, fd, elf, &all)) || (!all && !add_go(t, elf, size)))
		return false;
	ptc_symtab_sort(t);
	if (!ptc_plt_add(t, elf))
		return false;
	ptc_symtab_sort(t);
	return true;
}

/*
 * Reads an open ELF file of @size bytes. @f and @fd, if given, are its file: then its debug file is
 * used, too.
 */
static struct ptc_symtab *read_elf(Elf *elf, uint64_t size, const struct ptc_codefile *f, int fd)
{
	struct ptc_symtab *t = elf && elf_kind(elf) == ELF_K_ELF ? calloc(1, sizeof(*t)) : NULL;

	if (!t || fill(t, elf, size, f, fd))
		return t;
	ptc_symtab_free(t);
	return NULL;
}

struct ptc_symtab *ptc_symtab_new(const uint8_t *image, size_t len)
{
	struct ptc_symtab *t;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE ||
	    !ptc_budget_allows(ptc_elf_memory_bytes_need(image, len, PTC_ELF_MEMORY_NAMES)))
		return NULL;
	/* Opened for reading: libelf does not write to it. */
	elf = elf_memory((char *)(uintptr_t)image, len);
	t = read_elf(elf, len, NULL, -1);
	(void)elf_end(elf);
	return t;
}

struct ptc_symtab *ptc_symtab_of_file(const struct ptc_codefile *f)
{
	const int fd = elf_version(EV_CURRENT) == EV_NONE ? -1 : ptc_codefile_reopen(f);
	struct ptc_symtab *t;
	Elf *elf;

	if (fd < 0)
		return NULL;
	(void)ptc_budget_refused();
	elf = open_elf(fd, f);
	t = read_elf(elf, f->len, f, fd);
	if ((elf && !t) || ptc_budget_refused())
		ptc_omitted_data_add(f->store->search.left, f->name, "table of names", 0);
	(void)elf_end(elf);
	(void)close(fd);
	return t;
}

static struct ptc_symtab *read_module(Elf *elf)
{
	struct ptc_symtab *t = calloc(1, sizeof(*t));
	struct ptc_module_layout l = { .n = 0 };
	bool all;
	const bool ok = t && ptc_module_layout(elf, &l) &&
			ptc_symtab_add_segment(t, 0, l.size, 0) && add_symbols(t, elf, &l, &all);

	ptc_module_layout_release(&l);
	if (ok) {
		ptc_symtab_sort(t);
		return t;
	}
	ptc_symtab_free(t);
	return NULL;
}

struct ptc_symtab *ptc_symtab_of_module(struct ptc_codefile *f)
{
	struct ptc_symtab *t = NULL;
	struct ptc_found found;
	Elf *elf = NULL;

	ptc_search_module(&f->store->search, f->name, &f->id, &found);
	if (found.fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		elf = open_elf(found.fd, f);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		t = read_module(elf);
	(void)elf_end(elf);
	f->assumed = t && found.assumed;
	if (found.other && !f->other_path) {
		f->other_path = found.other_path;
		f->other_id = found.is_id;
		found.other_path = NULL;
	}
	ptc_found_release(&found);
	return t;
}

/*
 * The vdso is in the recording as patches: it may differ from the running kernel's vdso. A
 * recording has only one.
 */
static struct ptc_symtab *read_vdso(const struct ptc_addrspace *as, const struct ptc_range *r)
{
	const uint64_t len = r->end - r->start;

	if (len > VDSO_MAX)
		return NULL;
	r->file->saved_image = malloc(len);
	if (!r->file->saved_image)
		return NULL;
	return ptc_symtab_new(r->file->saved_image,
			      ptc_addrspace_read(as, r->start, r->file->saved_image, len));
}

/* Returns the demangled name, unless mangled names are requested. */
static const char *shown(const struct ptc_codefile *f, struct ptc_symbol *s)
{
	if (!s->plain_tried && !f->store->mangled) {
		s->plain_tried = true;
		s->plain = ptc_demangle(s->name);
	}
	return s->plain ? s->plain : s->name;
}

const char *ptc_symbol_at(const struct ptc_addrspace *as, uint64_t ip, uint64_t *ret_off)
{
	const struct ptc_range *r = ptc_addrspace_find(as, ip);
	struct ptc_codefile *f = r ? r->file : NULL;
	struct ptc_symbol *s;

	if (!f)
		return NULL;
	if (!f->syms_tried) {
		f->syms_tried = true;
		if (r->patched && !strcmp(f->name, "[vdso]"))
			f->syms = read_vdso(as, r);
		else if (f->path)
			f->syms = ptc_symtab_of_file(f);
		else if (f->bytes && !f->pages)
			f->syms = ptc_symtab_new(f->bytes, f->len);
		else if (f->kernel)
			f->syms = ptc_symtab_of_module(f);
	}
	s = f->syms ? ptc_symtab_at(f->syms, ip - r->start + r->off, ret_off) : NULL;
	return s ? shown(f, s) : NULL;
}

const char *ptc_kernel_symbol(const struct ptc_kernel *k, const struct ptc_kernel_maps *maps,
			      uint64_t ip, uint64_t time, uint64_t *ret_off)
{
	uint64_t off;
	const char *name;

	if (!k->wanted)
		return NULL;
	name = ptc_text_symbols_find(&k->live, ip, time, &off);
	if (name && *name) {
		*ret_off = off;
		return name;
	}
	name = maps->other_boot ? NULL : ptc_text_symbols_find(&k->names, ip, UINT64_MAX, ret_off);
	return name ? name : ptc_symbol_at(&maps->modules, ip, ret_off);
}
