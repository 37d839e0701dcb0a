/* SPDX-License-Identifier: MIT */
#include "ptcap/locate.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/similar.h"
#include "base/untrusted.h"
#include "decode/elf/elf_memory.h"
#include "decode/symbols/ambiguous_symbol.h"

struct elf_file {
	const char *path;
	int fd;
	Elf *elf;
};

static void elf_file_close(struct elf_file *f)
{
	(void)elf_end(f->elf);
	if (f->fd >= 0)
		(void)close(f->fd);
}

static int elf_file_open(struct elf_file *f, const char *path, struct ptc_err *err)
{
	const struct ptc_untrusted how = { .root = 0 };
	struct stat st;

	*f = (struct elf_file){ .path = path, .fd = ptc_untrusted_open(path, &how, &st, err) };
	if (f->fd < 0)
		return f->fd;
	(void)elf_version(EV_CURRENT);
	f->elf = ptc_elf_memory_has(f->fd, PTC_ELF_MEMORY_NAMES, path, NULL) ?
			 elf_begin(f->fd, ELF_C_READ, NULL) :
			 NULL;
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF)
		return 0;
	elf_file_close(f);
	return ptc_fail(err, PTC_E_FORMAT, "'%s' has no symbols: it is not an ELF file", path);
}

static int to_offset(const struct elf_file *f, uint64_t addr, uint64_t *ret_off,
		     struct ptc_err *err)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(f->elf, &n))
		n = 0;
	for (i = 0; i < n && gelf_getphdr(f->elf, (int)i, &ph); i++)
		if (ph.p_type == PT_LOAD && addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz) {
			*ret_off = addr - ph.p_vaddr + ph.p_offset;
			return 0;
		}
	return ptc_fail(err, PTC_E_NOT_EXIST, "no code at address 0x%llx in '%s'",
			(unsigned long long)addr, f->path);
}

static bool is_code_symbol(Elf *elf, const GElf_Sym *sym)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr sh;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && gelf_getshdr(elf_getscn(elf, sym->st_shndx), &sh) &&
	       (sh.sh_flags & SHF_EXECINSTR);
}

/*
 * Calls @each for every function of the symbol tables (.symtab repeats .dynsym), until it returns
 * false.
 */
static bool each_function(const struct elf_file *f,
			  bool (*each)(void *ctx, const GElf_Sym *sym, const char *name), void *ctx)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;
	int i;

	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		data = ptc_elf_memory_data(scn);
		for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(f->elf, sh.sh_link, sym.st_name);

			if (name && is_code_symbol(f->elf, &sym) && !each(ctx, &sym, name))
				return false;
		}
	}
	return true;
}

struct wanted {
	const char *name;
	struct ptc_homonyms found;
};

static bool note_wanted(void *ctx, const GElf_Sym *sym, const char *name)
{
	struct wanted *w = ctx;
	const struct ptc_homonym one = { sym->st_value, sym->st_size,
					 GELF_ST_BIND(sym->st_info) == STB_GLOBAL };

	return strcmp(name, w->name) != 0 || ptc_homonyms_add(&w->found, &one);
}

struct next {
	uint64_t addr, end; /* end: the lowest address beyond addr; 0: none yet */
};

static bool note_next(void *ctx, const GElf_Sym *sym, const char *name)
{
	struct next *n = ctx;

	(void)name;
	if (sym->st_value > n->addr && (!n->end || sym->st_value < n->end))
		n->end = sym->st_value;
	return true;
}

static bool note_similar(void *ctx, const GElf_Sym *sym, const char *name)
{
	(void)sym;
	ptc_similar_add(ctx, name);
	return true;
}

/* @where: "'/bin/ls'". */
static int say_none(const struct elf_file *f, const char *where, const char *name,
		    struct ptc_err *err)
{
	struct ptc_similar similar;

	ptc_similar_begin(&similar, name);
	(void)each_function(f, note_similar, &similar);
	return ptc_fail(err, PTC_E_NOT_EXIST, "no function '%s' in %s%s", name, where,
			similar.n ? ptc_similar_text(&similar) :
				    "; for a function in a library use NAME@LIBRARY");
}

static int choose(const struct elf_file *f, const char *name, int which, const char *hint,
		  struct ptc_homonym *ret, struct ptc_err *err)
{
	struct wanted w = { .name = name };
	char where[128];
	int rc;

	*ret = (struct ptc_homonym){ 0 };
	(void)snprintf(where, sizeof(where), "'%s'", f->path);
	if (!each_function(f, note_wanted, &w))
		rc = ptc_fail_mem(err);
	else if (!w.found.n)
		rc = say_none(f, where, name, err);
	else
		rc = ptc_homonyms_choose(&w.found, which, where, name, hint, ret, err);
	ptc_homonyms_release(&w.found);
	if (!rc && !ret->size) {
		struct next n = { ret->addr, 0 };

		(void)each_function(f, note_next, &n);
		ret->size = n.end ? n.end - ret->addr : 0;
	}
	return rc;
}

static int locate(const char *path, const char *name, int which, const char *hint,
		  struct ptc_extent *ret, struct ptc_err *err)
{
	struct ptc_homonym one;
	struct elf_file f;
	int rc = elf_file_open(&f, path, err);

	if (rc)
		return rc;
	rc = choose(&f, name, which, hint, &one, err);
	if (!rc)
		rc = to_offset(&f, one.addr, &ret->start, err);
	if (!rc)
		ret->size = one.size;
	elf_file_close(&f);
	return rc;
}

int ptc_locate_function(const char *path, const char *name, int which, struct ptc_extent *ret,
			struct ptc_err *err)
{
	return locate(path, name, which, "write NAME#NUMBER to choose one", ret, err);
}

int ptc_locate_symbol(const char *path, const char *name, uint64_t *ret_off, struct ptc_err *err)
{
	struct ptc_extent e;
	int rc = locate(path, name, PTC_WHICH_ONLY, "write 0xADDRESS@FILE to choose one", &e, err);

	if (!rc)
		*ret_off = e.start;
	return rc;
}

int ptc_locate_whole(const char *path, struct ptc_extent *ret, struct ptc_err *err)
{
	struct stat st;

	if (stat(path, &st))
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	*ret = (struct ptc_extent){ 0, (uint64_t)st.st_size };
	return 0;
}

int ptc_locate_addr(const char *path, uint64_t addr, uint64_t *ret_off, struct ptc_err *err)
{
	struct elf_file f;
	int rc = elf_file_open(&f, path, err);

	if (rc)
		return rc;
	rc = to_offset(&f, addr, ret_off, err);
	elf_file_close(&f);
	return rc;
}
