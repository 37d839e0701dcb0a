/* SPDX-License-Identifier: MIT */
#include "decode/symbols/srcline.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/grow.h"
#include "decode/elf/altlink.h"
#include "decode/elf/elf_segments.h"
#include "decode/elf/omitted_data.h"
#include "decode/elf/zstd_sections.h"
#include "decode/image/codefile.h"
#include "decode/symbols/dwarf_units.h"
#include "decode/symbols/go_elf.h"
#include "decode/symbols/gopclntab.h"

struct ptc_srcline_module {
	const struct ptc_codefile *file; /* lent */
	Dwfl *dwfl;			 /* owned; NULL: the file cannot be read */
	Dwfl_Module *mod;		 /* part of dwfl */
	Dwarf *dwarf;			 /* part of mod; NULL: no debug information */
	struct ptc_alternate alt;	 /* alternate file of dwarf */
	Dwarf_Addr bias;		 /* of addresses in dwarf */
	struct ptc_units units;		 /* units of dwarf */
	struct ptc_inline_units inlines; /* of units */
	struct ptc_gopclntab *go;	 /* owned; NULL: dwarf has the lines, or there are none */
	GElf_Addr go_bias;		 /* of addresses in go */
};

static struct ptc_place_found file_path_and_root(const struct ptc_codefile *f)
{
	return (struct ptc_place_found){ f->path, f->root };
}

int ptc_srcline_find_elf(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			 char **ret_path, Elf **ret_elf)
{
	(void)mod;
	(void)data;
	(void)name;
	(void)base;
	(void)ret_path;
	(void)ret_elf;
	return -1;
}

int ptc_srcline_find_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			       const char *path, const char *link_name, GElf_Word crc,
			       char **ret_path)
{
	const struct ptc_codefile *f = *data;
	struct ptc_debuglink link = { .crc = crc };
	struct ptc_build_id id = { .len = 0 };
	const unsigned char *bits;
	char *found = NULL;
	GElf_Addr addr;
	int n, fd;

	(void)name;
	(void)base;
	(void)path;
	if (link_name && !crc) /* an alternate file (dwz) */
		return -1;
	n = f ? dwfl_module_build_id(mod, &bits, &addr) : 0;
	if (n > 0 && (size_t)n <= sizeof(id.bytes)) {
		memcpy(id.bytes, bits, (size_t)n);
		id.len = (uint8_t)n;
	}
	if (link_name && strlen(link_name) < sizeof(link.name))
		memcpy(link.name, link_name, strlen(link_name) + 1);
	if (!f)
		return -1;
	fd = ptc_unzstd_fd(
		ptc_search_debug(&f->store->search, file_path_and_root(f), &id, &link, &found),
		f->name, f->store->search.left);
	if (fd < 0)
		free(found);
	else
		*ret_path = found;
	return fd;
}

static void read_dwarf(struct ptc_srcline_module *m)
{
	struct ptc_place_found at = file_path_and_root(m->file);
	const char *debug = NULL;

	m->dwarf = dwfl_module_getdwarf(m->mod, &m->bias);
	if (!dwfl_module_info(m->mod, NULL, NULL, NULL, NULL, NULL, NULL, &debug))
		debug = NULL;
	/* A debug file has the same root as its file, or none: then its root is "/". */
	if (debug)
		at = (struct ptc_place_found){ debug,
					       strncmp(debug, at.path, at.root) ? 0 : at.root };
	if (!ptc_alternate_set(&m->alt, m->dwarf, &m->file->store->search, at))
		m->dwarf = NULL;
	m->units.file = m->file->name;
	m->units.left = m->file->store->search.left;
	ptc_units_read(&m->units, m->dwarf);
}

static void open_module(struct ptc_srcline_module *m)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = ptc_srcline_find_elf,
		.find_debuginfo = ptc_srcline_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	const char *path = m->file->path;
	bool unusable;
	void **data;
	int fd;

	/* The path may name another file by now, which libdwfl would open. */
	fd = ptc_unzstd_fd(ptc_codefile_reopen(m->file), m->file->name,
			   m->file->store->search.left);
	if (fd < 0)
		return;
	m->dwfl = dwfl_begin(&callbacks);
	m->mod = m->dwfl ? dwfl_report_offline(m->dwfl, path, path, fd) : NULL;
	if (!m->mod)
		(void)close(fd);
	if (m->mod && !dwfl_report_end(m->dwfl, NULL, NULL) &&
	    dwfl_module_info(m->mod, &data, NULL, NULL, NULL, NULL, NULL, NULL)) {
		*data = (void *)(uintptr_t)m->file;
		read_dwarf(m);
		if (!m->units.has_go)
			m->go = ptc_goelf_read(dwfl_module_getelf(m->mod, &m->go_bias),
					       m->file->len, &unusable);
		return;
	}
	if (m->dwfl)
		dwfl_end(m->dwfl);
	m->dwfl = NULL;
}

static struct ptc_srcline_module *module_of(struct ptc_srclines *s, const struct ptc_codefile *f)
{
	struct ptc_srcline_module *m;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->modules[i].file == f)
			return &s->modules[i];
	if (!ptc_grow(&s->modules, &s->cap, s->n + 1, sizeof(*s->modules)))
		return NULL;
	m = &s->modules[s->n++];
	*m = (struct ptc_srcline_module){ .file = f };
	(void)ptc_budget_refused();
	open_module(m);
	if (ptc_budget_refused())
		ptc_omitted_data_add(f->store->search.left, f->name, "debug information", 0);
	return m;
}

/* Gets the address at which libdwfl has placed the code at file offset @off. */
static bool address_of(Dwfl_Module *mod, uint64_t off, Dwarf_Addr *ret)
{
	GElf_Addr bias;
	uint64_t addr;

	if (!ptc_segments_address(dwfl_module_getelf(mod, &bias), off, &addr))
		return false;
	*ret = addr + bias;
	return true;
}

const char *ptc_srcline_find(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off,
			     int *ret_line)
{
	struct ptc_srcline_module *m = module_of(s, f);
	const char *name;
	Dwarf_Addr addr;

	if (!m || !m->dwfl || !address_of(m->mod, off, &addr))
		return NULL;
	name = ptc_units_line(&m->units, addr - m->bias, ret_line);
	return name || !m->go ? name : ptc_gopclntab_line(m->go, addr - m->go_bias, ret_line);
}

size_t ptc_srcline_inlines(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off,
			   struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	struct ptc_srcline_module *m = module_of(s, f);
	Dwarf_Addr addr;

	if (!m || !m->dwfl || !address_of(m->mod, off, &addr))
		return 0;
	return ptc_inline_frames_find(&m->inlines, &m->units, addr - m->bias, f->store->mangled,
				      frames);
}

Dwfl_Module *ptc_srcline_module(struct ptc_srclines *s, const struct ptc_codefile *f,
				Dwarf **ret_dwarf)
{
	const struct ptc_srcline_module *m = module_of(s, f);

	if (!m || !m->dwfl)
		return NULL;
	*ret_dwarf = m->dwarf;
	return m->mod;
}

int ptc_srclines_each(const struct ptc_srclines *s,
		      int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	size_t i;
	int r = 0;

	for (i = 0; i < s->n && !r; i++) {
		struct ptc_srcline_module *m = &s->modules[i];
		GElf_Addr bias = 0;
		Elf *elf = m->dwfl ? dwfl_module_getelf(m->mod, &bias) : NULL;

		if (elf)
			r = ptc_units_each(&m->units, elf, m->bias - bias, on_line, ctx);
		if (!r && m->go)
			r = ptc_gopclntab_each(m->go, on_line, ctx);
	}
	return r;
}

const char *ptc_srcline_folder(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off)
{
	struct ptc_srcline_module *m = module_of(s, f);
	Dwarf_Addr addr;

	if (!m || !m->dwfl || !address_of(m->mod, off, &addr))
		return NULL;
	return ptc_units_folder(&m->units, addr - m->bias);
}

void ptc_srclines_release(struct ptc_srclines *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		ptc_inline_units_release(&s->modules[i].inlines);
		ptc_units_release(&s->modules[i].units);
		ptc_gopclntab_free(s->modules[i].go);
		if (s->modules[i].dwfl)
			dwfl_end(s->modules[i].dwfl);
		ptc_alternate_release(&s->modules[i].alt);
	}
	free(s->modules);
	*s = (struct ptc_srclines)PTC_SRCLINES_INIT;
}

const char *ptc_srclines_first_without(const struct ptc_srclines *s, size_t *ret_n)
{
	const char *first = NULL;
	size_t i;

	*ret_n = 0;
	for (i = 0; i < s->n; i++) {
		if (!s->modules[i].dwfl || s->modules[i].dwarf || s->modules[i].go)
			continue;
		first = first ? first : s->modules[i].file->name;
		++*ret_n;
	}
	return first;
}
