/* SPDX-License-Identifier: MIT */
#include "decode/archive/kept_parts.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/bundle/partial_file.h"
#include "decode/elf/elf_memory.h"
#include "ptcap/error.h"

enum { TYPE_OFF = 4 }; /* of sh_type in a section header, of both classes */

struct selection {
	Elf *elf;
	GElf_Ehdr eh;
	uint64_t len; /* of the file */
	size_t nphdrs, nshdrs, names;
	const struct ptc_kept_wanted *wanted;
	uint64_t code_begin, code_end; /* pages of the executable segments */
	bool data;		       /* keep all sections, except code and debug information */
	struct ptc_partial *parts;
};

static bool begins_with_any(const char *name, const char *const *with, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strncmp(name, with[i], strlen(with[i])))
			return true;
	return false;
}

/* --- parts --- */

/* Finds the pages from the first executable segment to the last one. */
static void find_code(struct selection *s)
{
	GElf_Phdr ph;
	size_t i;

	s->code_begin = UINT64_MAX;
	for (i = 0; i < s->nphdrs; i++) {
		if (!gelf_getphdr(s->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || !ph.p_filesz || ph.p_filesz > s->len ||
		    ph.p_offset > s->len - ph.p_filesz)
			continue;
		if (ph.p_offset < s->code_begin)
			s->code_begin = ph.p_offset - ph.p_offset % PTC_KEPT_PAGE;
		if (ph.p_offset + ph.p_filesz > s->code_end)
			s->code_end = ph.p_offset + ph.p_filesz;
	}
	s->code_end += (PTC_KEPT_PAGE - s->code_end % PTC_KEPT_PAGE) % PTC_KEPT_PAGE;
}

/* Keep @len bytes at @off, as far as the file has them. */
static bool keep(struct selection *s, uint64_t off, uint64_t len)
{
	uint64_t end;

	if (off >= s->len || !len)
		return true;
	if (len > s->len - off)
		len = s->len - off;
	end = off + len;
	if (off < s->code_end && end > s->code_begin) { /* whole pages of code */
		off -= off % PTC_KEPT_PAGE;
		end += (PTC_KEPT_PAGE - end % PTC_KEPT_PAGE) % PTC_KEPT_PAGE;
	}
	return ptc_partial_add(s->parts, off, (end < s->len ? end : s->len) - off);
}

static bool keep_headers(struct selection *s)
{
	GElf_Phdr ph;
	size_t i;

	if (!keep(s, 0, s->eh.e_ehsize) ||
	    !keep(s, s->eh.e_phoff, (uint64_t)s->nphdrs * s->eh.e_phentsize) ||
	    !keep(s, s->eh.e_shoff, (uint64_t)s->nshdrs * s->eh.e_shentsize))
		return false;
	for (i = 0; i < s->nphdrs; i++)
		if (gelf_getphdr(s->elf, (int)i, &ph) &&
		    (ph.p_type == PT_NOTE || ph.p_type == PT_DYNAMIC || ph.p_type == PT_INTERP) &&
		    !keep(s, ph.p_offset, ph.p_filesz))
			return false;
	return true;
}

/* Keep the pages whose code was read. */
static bool keep_pages(struct selection *s)
{
	uint64_t i;

	for (i = 0; s->wanted->pages && i < s->wanted->npages; i++)
		if (s->wanted->pages[i / 64] >> i % 64 & 1 &&
		    !keep(s, i * PTC_KEPT_PAGE, PTC_KEPT_PAGE))
			return false;
	return true;
}

/* --- sections --- */

static bool is_debug_section(const struct selection *s, const GElf_Shdr *sh, const char *name)
{
	static const char *const begins[] = { ".debug_",    ".zdebug_", ".gdb_index",
					      ".rel.debug", ".stab",	".rela.debug" };

	if (sh->sh_flags & SHF_ALLOC || sh->sh_type == SHT_NOBITS)
		return false;
	if (s->wanted->unwinds && !strcmp(name, ".debug_frame"))
		return false;
	return begins_with_any(name, begins, sizeof(begins) / sizeof(begins[0]));
}

/* Do names need the section? */
static bool is_for_names(const GElf_Shdr *sh, const char *name)
{
	static const char *const begins[] = { ".plt", ".gnu_debug", ".gopclntab", ".modinfo",
					      ".data.rel.ro.gopclntab" };

	switch (sh->sh_type) {
	case SHT_SYMTAB:
	case SHT_SYMTAB_SHNDX:
	case SHT_STRTAB:
	case SHT_DYNSYM:
	case SHT_DYNAMIC:
	case SHT_NOTE:
	case SHT_HASH:
	case SHT_GNU_HASH:
	case SHT_GNU_versym:
	case SHT_GNU_verneed:
	case SHT_GNU_verdef:
		return true;
	case SHT_REL:
	case SHT_RELA: /* names of PLT stubs */
		return sh->sh_flags & SHF_ALLOC;
	default:
		return begins_with_any(name, begins, sizeof(begins) / sizeof(begins[0]));
	}
}

static bool keep_section(struct selection *s, size_t i, const GElf_Shdr *sh, const char *name)
{
	const uint64_t type_off = s->eh.e_shoff + (uint64_t)i * s->eh.e_shentsize + TYPE_OFF;

	if (is_debug_section(s, sh, name))
		return ptc_partial_patch(s->parts, type_off, SHT_NOBITS);
	if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS ||
	    !(is_for_names(sh, name) || (s->data && !(sh->sh_flags & SHF_EXECINSTR))))
		return true;
	return keep(s, sh->sh_offset, sh->sh_size);
}

static const char *get_section(const struct selection *s, size_t i, GElf_Shdr *ret)
{
	Elf_Scn *scn = elf_getscn(s->elf, i);
	const char *name = gelf_getshdr(scn, ret) ? elf_strptr(s->elf, s->names, ret->sh_name) :
						    NULL;

	return name ? name : "";
}

/* Go's table of functions may be in any section of data (decode/symbols/go_elf.h). */
static bool is_go(const struct selection *s)
{
	GElf_Shdr sh;
	size_t i;

	for (i = 1; i < s->nshdrs; i++) {
		const char *name = get_section(s, i, &sh);

		if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid"))
			return true;
	}
	return false;
}

static bool keep_sections(struct selection *s)
{
	size_t i;

	s->data = s->wanted->unwinds || is_go(s);
	for (i = 1; i < s->nshdrs; i++) {
		GElf_Shdr sh = { .sh_type = SHT_NULL };
		const char *name = get_section(s, i, &sh);

		if (!keep_section(s, i, &sh, name))
			return false;
	}
	return true;
}

/* Read the headers. Returns false if there are no section headers with names. */
static bool begin_selection(struct selection *s)
{
	return s->elf && elf_kind(s->elf) == ELF_K_ELF && gelf_getehdr(s->elf, &s->eh) &&
	       !elf_getphdrnum(s->elf, &s->nphdrs) && !elf_getshdrnum(s->elf, &s->nshdrs) &&
	       !elf_getshdrstrndx(s->elf, &s->names) && s->nshdrs > 1 && s->names;
}

int ptc_kept_parts(int fd, uint64_t len, const char *name, const struct ptc_kept_wanted *wanted,
		   struct ptc_partial **ret)
{
	struct selection s = { .len = len, .wanted = wanted };
	int rc = 0;

	if (!ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, name, NULL))
		return 0;
	(void)elf_version(EV_CURRENT);
	s.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (begin_selection(&s)) {
		find_code(&s);
		s.parts = calloc(1, sizeof(*s.parts));
		rc = s.parts && keep_headers(&s) && keep_sections(&s) && keep_pages(&s) ?
			     1 :
			     PTC_E_NO_MEMORY;
	}
	(void)elf_end(s.elf);
	if (rc <= 0) {
		ptc_partial_free(s.parts);
		return rc;
	}
	ptc_partial_finish(s.parts);
	*ret = s.parts;
	return rc;
}
