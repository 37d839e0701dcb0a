/* SPDX-License-Identifier: MIT */
#include "decode/symbol.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/addrspace.h"
#include "decode/codefile.h"
#include "decode/grow.h"

/* What a table may have, whatever its file claims: sections may lie over each other. */
enum { VDSO_MAX = 1 << 20, SYMBOLS_MAX = 1 << 24, STRINGS_MAX = 256 << 20, TABLES_MAX = 16 };

struct symbol {
	uint64_t addr, size; /* ELF virtual address */
	const char *name;    /* lent from the strings */
	uint8_t rank;	     /* the smaller, the better a name */
};

struct segment {
	uint64_t off, size, addr;
};

struct ptc_symtab {
	char *strings[TABLES_MAX]; /* owned: the file may be gone, or cut, later */
	size_t nstrings, strings_len;
	struct symbol *syms;
	size_t n, cap;
	struct segment *segs;
	size_t nsegs, segs_cap;
};

void ptc_symtab_free(struct ptc_symtab *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->nstrings; i++)
		free(t->strings[i]);
	free(t->syms);
	free(t->segs);
	free(t);
}

static bool in_code(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr sh;

	return sym->st_shndx < SHN_LORESERVE && gelf_getshdr(elf_getscn(elf, sym->st_shndx), &sh) &&
	       (sh.sh_flags & SHF_EXECINSTR);
}

/* Functions first; untyped labels of assembly in code count too. 0: no function. */
static uint8_t rank_of(Elf *elf, const GElf_Sym *sym)
{
	static const uint8_t by_bind[] = { [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1 };
	const unsigned int type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const uint8_t by = bind <= STB_WEAK ? by_bind[bind] : 3;

	if (sym->st_shndx == SHN_UNDEF)
		return 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return (uint8_t)(1 + by);
	if (type == STT_NOTYPE && in_code(elf, sym))
		return (uint8_t)(5 + by);
	return 0;
}

/* A copy of string table @index that ends with a NUL; NULL: none, or no memory. */
static const char *copy_strings(struct ptc_symtab *t, Elf *elf, size_t index, size_t *ret_len)
{
	Elf_Data *data = elf_getdata(elf_getscn(elf, index), NULL);
	char *copy;

	if (!data || !data->d_buf || t->nstrings == TABLES_MAX ||
	    data->d_size > STRINGS_MAX - t->strings_len)
		return NULL;
	copy = malloc(data->d_size + 1);
	if (!copy)
		return NULL;
	memcpy(copy, data->d_buf, data->d_size);
	copy[data->d_size] = '\0';
	t->strings[t->nstrings++] = copy;
	t->strings_len += data->d_size;
	*ret_len = data->d_size;
	return copy;
}

static bool add_section(struct ptc_symtab *t, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t len = 0;
	const char *strings = data ? copy_strings(t, elf, sh->sh_link, &len) : NULL;
	GElf_Sym sym;
	int i;

	for (i = 0; strings && gelf_getsym(data, i, &sym) && t->n < SYMBOLS_MAX; i++) {
		const uint8_t rank = rank_of(elf, &sym);
		const char *name = rank && sym.st_name < len ? strings + sym.st_name : NULL;

		if (!name || !*name || *name == '$')
			continue;
		if (!ptc_grow(&t->syms, &t->cap, t->n + 1, sizeof(*t->syms)))
			return false;
		t->syms[t->n++] = (struct symbol){ sym.st_value, sym.st_size, name, rank };
	}
	return true;
}

static bool add_segments(struct ptc_symtab *t, Elf *elf)
{
	GElf_Phdr ph;
	size_t n, i;

	if (elf_getphdrnum(elf, &n))
		return true;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type != PT_LOAD)
			continue;
		if (!ptc_grow(&t->segs, &t->segs_cap, t->nsegs + 1, sizeof(*t->segs)))
			return false;
		t->segs[t->nsegs++] = (struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
	return true;
}

/* Both tables of @elf. *ret_all: .symtab, which has them all, is there. */
static bool add_symbols(struct ptc_symtab *t, Elf *elf, bool *ret_all)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	*ret_all = false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		if (!add_section(t, elf, scn, &sh))
			return false;
		*ret_all |= sh.sh_type == SHT_SYMTAB;
	}
	return true;
}

static int by_addr(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (strlen(a->name) != strlen(b->name)) /* __x is x's alias more often than not */
		return strlen(a->name) < strlen(b->name) ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Keep the best name of each address. */
static void tidy(struct ptc_symtab *t)
{
	size_t i, n = 0;

	if (t->n)
		qsort(t->syms, t->n, sizeof(*t->syms), by_addr);
	for (i = 0; i < t->n; i++)
		if (!n || t->syms[n - 1].addr != t->syms[i].addr)
			t->syms[n++] = t->syms[i];
	t->n = n;
}

/* What .gnu_debuglink says, or "". */
static void debug_link(Elf *elf, char *out, size_t size)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	*out = '\0';
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (!name || strcmp(name, ".gnu_debuglink") != 0)
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf && strnlen(data->d_buf, data->d_size) < data->d_size &&
		    strnlen(data->d_buf, size) < size)
			memcpy(out, data->d_buf, strlen(data->d_buf) + 1);
		return;
	}
}

/* The symbols of the separate debug file, if there is one. False: no memory. */
static bool add_debug(struct ptc_symtab *t, const struct ptc_codefile *f, int own, Elf *own_elf)
{
	struct ptc_build_id id = f->id;
	bool ok = true, all;
	char link[256];
	Elf *elf;
	int fd;

	if (!id.len)
		(void)ptc_elf_build_id_fd(own, f->len, &id);
	debug_link(own_elf, link, sizeof(link));
	fd = ptc_search_debug(&f->store->search, f->path, &id, link);
	if (fd < 0)
		return true;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		ok = add_symbols(t, elf, &all);
	(void)elf_end(elf);
	(void)close(fd);
	return ok;
}

/* Of an open ELF file; @f and @fd, if it is one: then its debug file counts too. */
static struct ptc_symtab *read_elf(Elf *elf, const struct ptc_codefile *f, int fd)
{
	struct ptc_symtab *t = elf && elf_kind(elf) == ELF_K_ELF ? calloc(1, sizeof(*t)) : NULL;
	bool all;

	if (!t)
		return NULL;
	if (!add_segments(t, elf) || !add_symbols(t, elf, &all) ||
	    (!all && f && !add_debug(t, f, fd, elf))) {
		ptc_symtab_free(t);
		return NULL;
	}
	tidy(t);
	return t;
}

struct ptc_symtab *ptc_symtab_new(const uint8_t *image, size_t len)
{
	struct ptc_symtab *t;
	Elf *elf;

	if (len < EI_NIDENT || memcmp(image, ELFMAG, SELFMAG) != 0 ||
	    elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	/* Opened for reading: libelf does not write to it. */
	elf = elf_memory((char *)(uintptr_t)image, len);
	t = read_elf(elf, NULL, -1);
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
	/* It is read, not mapped: it may be cut meanwhile. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	t = read_elf(elf, f, fd);
	(void)elf_end(elf);
	(void)close(fd);
	return t;
}

static bool to_addr(const struct ptc_symtab *t, uint64_t off, uint64_t *ret)
{
	size_t i;

	for (i = 0; i < t->nsegs; i++) {
		const struct segment *s = &t->segs[i];

		if (off >= s->off && off - s->off < s->size) {
			*ret = off - s->off + s->addr;
			return true;
		}
	}
	return false;
}

const char *ptc_symtab_find(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off)
{
	size_t lo = 0, hi = t->n, mid, i;
	uint64_t addr;

	if (!to_addr(t, off, &addr))
		return NULL;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* A label inside a function may hide it: look a little further back. */
	for (i = 0; i < 8 && lo > i; i++) {
		const struct symbol *s = &t->syms[lo - 1 - i];

		if (s->size ? addr - s->addr < s->size : i == 0) {
			*ret_off = addr - s->addr;
			return s->name;
		}
	}
	return NULL;
}

/*
 * The vdso comes with the recording, as patches: it need not be that of the
 * kernel that runs here. A recording has only one.
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

const char *ptc_symbol_at(const struct ptc_addrspace *as, uint64_t ip, uint64_t *ret_off)
{
	const struct ptc_range *r = ptc_addrspace_find(as, ip);
	struct ptc_codefile *f = r ? r->file : NULL;

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
	}
	return f->syms ? ptc_symtab_find(f->syms, ip - r->start + r->off, ret_off) : NULL;
}
