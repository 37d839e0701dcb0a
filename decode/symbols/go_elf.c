/* SPDX-License-Identifier: MIT */
#include "decode/symbols/go_elf.h"

#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/cursor.h"
#include "decode/symbols/gopclntab.h"

enum {
	WORD = 8,
	TRIES_MAX = 8, /* places that look like a table, or like a pointer to the table */
	NOTES_MAX = 8, /* note segments, each with NOTE_BYTES_MAX at most */
	NOTE_BYTES_MAX = 1 << 16,
};

struct goelf {
	Elf *elf;
	uint64_t size;	     /* of the file */
	struct ptc_cur rela; /* the relocations; lent by elf */
	/*
	 * bytes that may still be searched: as many as the file has, even if segments share bytes
	 */
	uint64_t unread;
	bool is_go;
	uint64_t off, addr, len; /* the section; len 0: none */
	unsigned int tries;
};

/* --- contents of the file --- */

static struct ptc_cur bytes_at(const struct goelf *g, uint64_t off, uint64_t len)
{
	Elf_Data *data =
		off <= g->size && len && len <= g->size - off && g->size <= INT64_MAX &&
				ptc_budget_allows(len) ?
			elf_getdata_rawchunk(g->elf, (int64_t)off, (size_t)len, ELF_T_BYTE) :
			NULL;

	return data && data->d_buf ? ptc_cur_init(data->d_buf, data->d_size) :
				     (struct ptc_cur){ NULL, NULL };
}

/* Find the next segment of type @type from number *@i on. Moves *@i behind it. */
static bool next_segment(Elf *elf, uint32_t type, size_t *i, GElf_Phdr *ret)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n))
		return false;
	while (*i < n)
		if (gelf_getphdr(elf, (int)(*i)++, ret) && ret->p_type == type)
			return true;
	return false;
}

/* Returns the bytes at an address. */
static struct ptc_cur loaded_at(const struct goelf *g, uint64_t addr, uint64_t len)
{
	GElf_Phdr ph;
	size_t i = 0;

	while (next_segment(g->elf, PT_LOAD, &i, &ph))
		if (addr >= ph.p_vaddr && addr - ph.p_vaddr <= ph.p_filesz &&
		    len <= ph.p_filesz - (addr - ph.p_vaddr))
			return bytes_at(g, ph.p_offset + (addr - ph.p_vaddr), len);
	return (struct ptc_cur){ NULL, NULL };
}

/* Is [start, end) in one segment of code? */
static bool is_code_range(Elf *elf, uint64_t start, uint64_t end)
{
	GElf_Phdr ph;
	size_t i = 0;

	while (next_segment(elf, PT_LOAD, &i, &ph))
		if ((ph.p_flags & PF_X) && start >= ph.p_vaddr && end > start &&
		    end - ph.p_vaddr <= ph.p_filesz)
			return true;
	return false;
}

/* Returns the bytes of a segment, for one search. Empty: too much was searched. */
static struct ptc_cur to_search(struct goelf *g, const GElf_Phdr *ph)
{
	if (ph->p_filesz > g->unread)
		return (struct ptc_cur){ NULL, NULL };
	g->unread -= ph->p_filesz;
	return bytes_at(g, ph->p_offset, ph->p_filesz);
}

/* --- relocations: words that the file may lack --- */

static struct ptc_cur find_rela(const struct goelf *g)
{
	uint64_t tag, value, addr = 0, len = 0;
	struct ptc_cur dynamic;
	GElf_Phdr ph;
	size_t i = 0;

	if (!next_segment(g->elf, PT_DYNAMIC, &i, &ph))
		return (struct ptc_cur){ NULL, NULL };
	dynamic = bytes_at(g, ph.p_offset, ph.p_filesz);
	while (ptc_cur_le64(&dynamic, &tag) && ptc_cur_le64(&dynamic, &value) && tag != DT_NULL) {
		if (tag == DT_RELA)
			addr = value;
		if (tag == DT_RELASZ)
			len = value;
	}
	return len ? loaded_at(g, addr, len) : (struct ptc_cur){ NULL, NULL };
}

/* Read the next relocation that stores an address of the file itself. */
static bool next_relative(struct ptc_cur *rela, uint64_t *ret_where, uint64_t *ret_what)
{
	uint64_t info;

	while (ptc_cur_le64(rela, ret_where) && ptc_cur_le64(rela, &info) &&
	       ptc_cur_le64(rela, ret_what))
		if (info == R_X86_64_RELATIVE)
			return true;
	return false;
}

static void put_le64(uint8_t *to, uint64_t v)
{
	size_t i;

	for (i = 0; i < WORD; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* Apply the relocations to @bytes, which are at @addr. */
static void relocate(const struct goelf *g, uint64_t addr, uint8_t *bytes, size_t len)
{
	struct ptc_cur rela = g->rela;
	uint64_t where, what;

	while (next_relative(&rela, &where, &what))
		if (where >= addr && len >= WORD && where - addr <= len - WORD)
			put_le64(bytes + (where - addr), what);
}

/* --- the address of runtime.text, which the table of Go 1.26 lacks --- */

/*
 * runtime.moduledata (runtime/symtab.go) begins with the address of the table. The words from MINPC
 * on are minpc, maxpc and text. minpc and maxpc must agree with the table.
 */
static bool read_moduledata(const struct goelf *g, uint64_t where, const struct ptc_gopclntab *t,
			    uint64_t table, uint64_t *ret)
{
	enum { MINPC = 20, MAXPC = 21, TEXT = 22, WORDS = 23 };
	uint8_t words[WORDS * WORD];
	const struct ptc_cur c = loaded_at(g, where, sizeof(words));
	uint64_t start, end, text;

	if (ptc_cur_left(&c) != sizeof(words))
		return false;
	memcpy(words, c.pos, sizeof(words));
	relocate(g, where, words, sizeof(words));
	text = ptc_le64(words + (size_t)TEXT * WORD);
	ptc_gopclntab_range(t, &start, &end);
	if (ptc_le64(words) != table || !text ||
	    ptc_le64(words + (size_t)MINPC * WORD) != text + start ||
	    ptc_le64(words + (size_t)MAXPC * WORD) != text + end)
		return false;
	*ret = text;
	return true;
}

/* Find a pointer to the table: by a relocation, or by the address in the file. */
static bool find_text(struct goelf *g, const struct ptc_gopclntab *t, uint64_t table, uint64_t *ret)
{
	struct ptc_cur rela = g->rela, c;
	unsigned int tries = 0;
	uint64_t where, what;
	GElf_Phdr ph;
	size_t i = 0;

	while (tries < TRIES_MAX && next_relative(&rela, &where, &what))
		if (what == table && ++tries && read_moduledata(g, where, t, table, ret))
			return true;
	for (tries = 0; next_segment(g->elf, PT_LOAD, &i, &ph);) {
		if (!(ph.p_flags & PF_W))
			continue;
		c = to_search(g, &ph);
		for (where = ph.p_vaddr; tries < TRIES_MAX && ptc_cur_left(&c) >= WORD;
		     where += WORD, (void)ptc_cur_skip(&c, WORD))
			if (ptc_le64(c.pos) == table && ++tries &&
			    read_moduledata(g, where, t, table, ret))
				return true;
	}
	return false;
}

/* --- the table --- */

/* Read the table from the bytes @c, which are at @addr. */
static struct ptc_gopclntab *read_at(struct goelf *g, struct ptc_cur c, uint64_t addr)
{
	const size_t n = ptc_cur_left(&c);
	uint8_t *copy = n && n < SIZE_MAX && ptc_gopclntab_begins(c.pos, n) &&
					ptc_budget_allows(n) ?
				malloc(n + 1) :
				NULL;
	struct ptc_gopclntab *t = NULL;
	uint64_t start, end;

	if (!copy)
		return NULL;
	memcpy(copy, c.pos, n);
	copy[n] = 0;
	relocate(g, addr, copy, n);
	t = ptc_gopclntab_new(copy, n);
	if (!t) {
		free(copy);
		return NULL;
	}
	if (ptc_gopclntab_is_relative(t) && !t->text)
		(void)find_text(g, t, addr, &t->text);
	ptc_gopclntab_range(t, &start, &end);
	if (is_code_range(g->elf, start, end))
		return t;
	ptc_gopclntab_free(t);
	return NULL;
}

/* Search a segment. Tables are aligned to 32 bytes, or to 8 by the oldest linkers. */
static struct ptc_gopclntab *search(struct goelf *g, const GElf_Phdr *ph)
{
	struct ptc_cur c = to_search(g, ph);
	struct ptc_gopclntab *t = NULL;
	uint64_t addr = ph->p_vaddr;

	for (; !t && ptc_cur_left(&c) >= WORD && g->tries < TRIES_MAX; addr += WORD) {
		if (ptc_gopclntab_begins(c.pos, ptc_cur_left(&c))) {
			g->tries++;
			t = read_at(g, c, addr);
		}
		(void)ptc_cur_skip(&c, WORD);
	}
	return t;
}

static void look_at_sections(struct goelf *g)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(g->elf, &names))
		return;
	while ((scn = elf_nextscn(g->elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(g->elf, names, sh.sh_name) : NULL;
		if (!name)
			continue;
		g->is_go |= !strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid");
		if (sh.sh_type != SHT_NOBITS && (sh.sh_flags & SHF_ALLOC) && !g->len &&
		    (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))) {
			g->off = sh.sh_offset;
			g->addr = sh.sh_addr;
			g->len = sh.sh_size;
		}
	}
}

/* Is there a note of Go? Its name comes before the build id that Go's linker writes. */
static bool has_note(const struct goelf *g)
{
	static const uint8_t name[] = { 'G', 'o', 0, 0 };
	enum { HEADER = 12 };
	unsigned int notes;
	struct ptc_cur c;
	GElf_Phdr ph;
	size_t i = 0;

	for (notes = 0; notes < NOTES_MAX && next_segment(g->elf, PT_NOTE, &i, &ph); notes++) {
		c = bytes_at(g, ph.p_offset,
			     ph.p_filesz < NOTE_BYTES_MAX ? ph.p_filesz : NOTE_BYTES_MAX);
		for (; ptc_cur_left(&c) >= HEADER + sizeof(name); (void)ptc_cur_skip(&c, 4))
			if (ptc_le32(c.pos) == sizeof(name) &&
			    !memcmp(c.pos + HEADER, name, sizeof(name)))
				return true;
	}
	return false;
}

static bool is_x86_64(Elf *elf)
{
	GElf_Ehdr eh;

	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &eh) &&
	       eh.e_machine == EM_X86_64 && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh.e_type != ET_REL;
}

struct ptc_gopclntab *ptc_goelf_read(Elf *elf, uint64_t size, bool *ret_unusable)
{
	struct goelf g = { .elf = elf, .size = size, .unread = size };
	struct ptc_gopclntab *t = NULL;
	GElf_Phdr ph;
	size_t i = 0;

	*ret_unusable = false;
	if (!is_x86_64(elf))
		return NULL;
	look_at_sections(&g);
	if (!g.len && !g.is_go && !has_note(&g))
		return NULL;
	g.rela = find_rela(&g);
	if (g.len)
		t = read_at(&g, bytes_at(&g, g.off, g.len), g.addr);
	while (!g.len && !t && next_segment(elf, PT_LOAD, &i, &ph))
		t = search(&g, &ph);
	*ret_unusable = !t;
	return t;
}
