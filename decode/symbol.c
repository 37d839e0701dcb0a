/* SPDX-License-Identifier: MIT */
#include "decode/symbol.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/addrspace.h"
#include "decode/codefile.h"
#include "decode/grow.h"

enum { VDSO_MAX = 1 << 20 };

struct symbol {
	uint64_t addr, size; /* ELF virtual address */
	const char *name;    /* lent from the image */
	uint8_t rank;	     /* the smaller, the better a name */
};

struct segment {
	uint64_t off, size, addr;
};

struct ptc_symtab {
	Elf *elf; /* keeps the strings */
	struct symbol *syms;
	size_t n, cap;
	struct segment *segs;
	size_t nsegs, segs_cap;
};

void ptc_symtab_free(struct ptc_symtab *t)
{
	if (!t)
		return;
	(void)elf_end(t->elf);
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

static bool add_section(struct ptc_symtab *t, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	int i;

	for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const uint8_t rank = rank_of(t->elf, &sym);
		const char *name = rank ? elf_strptr(t->elf, sh->sh_link, sym.st_name) : NULL;

		if (!name || !*name || *name == '$')
			continue;
		if (!ptc_grow(&t->syms, &t->cap, t->n + 1, sizeof(*t->syms)))
			return false;
		t->syms[t->n++] = (struct symbol){ sym.st_value, sym.st_size, name, rank };
	}
	return true;
}

static bool add_segments(struct ptc_symtab *t)
{
	GElf_Phdr ph;
	size_t n, i;

	if (elf_getphdrnum(t->elf, &n))
		return true;
	for (i = 0; i < n && gelf_getphdr(t->elf, (int)i, &ph); i++) {
		if (ph.p_type != PT_LOAD)
			continue;
		if (!ptc_grow(&t->segs, &t->segs_cap, t->nsegs + 1, sizeof(*t->segs)))
			return false;
		t->segs[t->nsegs++] = (struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
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

struct ptc_symtab *ptc_symtab_new(const uint8_t *image, size_t len)
{
	struct ptc_symtab *t;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (len < EI_NIDENT || memcmp(image, ELFMAG, SELFMAG) != 0 ||
	    elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	/* Opened for reading: libelf does not write to it. */
	t->elf = elf_memory((char *)(uintptr_t)image, len);
	if (!t->elf || !add_segments(t))
		goto fail;
	while ((scn = elf_nextscn(t->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		if (!add_section(t, scn, &sh))
			goto fail;
	}
	tidy(t);
	return t;
fail:
	ptc_symtab_free(t);
	return NULL;
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
		else if (f->bytes)
			f->syms = ptc_symtab_new(f->bytes, f->len);
	}
	return f->syms ? ptc_symtab_find(f->syms, ip - r->start + r->off, ret_off) : NULL;
}
