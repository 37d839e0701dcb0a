/* SPDX-License-Identifier: MIT */
#include "decode/srcline.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "decode/grow.h"
#include "decode/run.h"

struct ptc_srcline_module {
	const struct ptc_codefile *file; /* lent */
	Dwfl *dwfl;			 /* owned; NULL: the file cannot be read */
	Dwfl_Module *mod;		 /* of dwfl */
};

/* Where debug information is, by the rules that symbols are found by. */
static int find_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			  const char *path, const char *link_name, GElf_Word crc, char **ret_path)
{
	const struct ptc_codefile *f = *data;
	struct ptc_debuglink link = { .crc = crc };
	struct ptc_build_id id = { .len = 0 };
	const unsigned char *bits;
	GElf_Addr addr;
	int n;

	/* An alternate file (dwz), which has another build-id: libdwfl knows that one. */
	if (link_name && !crc)
		return dwfl_standard_find_debuginfo(mod, data, name, base, path, link_name, crc,
						    ret_path);
	n = f ? dwfl_module_build_id(mod, &bits, &addr) : 0;
	if (n > 0 && (size_t)n <= sizeof(id.bytes)) {
		memcpy(id.bytes, bits, (size_t)n);
		id.len = (uint8_t)n;
	}
	if (link_name && strlen(link_name) < sizeof(link.name))
		memcpy(link.name, link_name, strlen(link_name) + 1);
	return f ? ptc_search_debug(&f->store->search, f->path, &id, &link) : -1;
}

static void open_module(struct ptc_srcline_module *m)
{
	static char *no_path; /* the places that libdwfl knows by itself */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.debuginfo_path = &no_path,
		.section_address = dwfl_offline_section_address,
	};
	const char *path = m->file->path;
	void **data;

	m->dwfl = dwfl_begin(&callbacks);
	if (!m->dwfl)
		return;
	m->mod = dwfl_report_offline(m->dwfl, path, path, -1);
	if (m->mod && !dwfl_report_end(m->dwfl, NULL, NULL) &&
	    dwfl_module_info(m->mod, &data, NULL, NULL, NULL, NULL, NULL, NULL)) {
		*data = (void *)(uintptr_t)m->file;
		return;
	}
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
	open_module(m);
	return m;
}

/* The next segment of @elf that is loaded, from the one numbered *@i on, which moves. */
static bool next_load(Elf *elf, size_t *i, GElf_Phdr *ret)
{
	size_t n = 0;

	if (!elf || elf_getphdrnum(elf, &n))
		return false;
	while (*i < n)
		if (gelf_getphdr(elf, (int)(*i)++, ret) && ret->p_type == PT_LOAD)
			return true;
	return false;
}

/* Where libdwfl has put the code at file offset @off. */
static bool address_of(Dwfl_Module *mod, uint64_t off, Dwarf_Addr *ret)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);
	size_t i = 0;
	GElf_Phdr ph;

	while (next_load(elf, &i, &ph)) {
		if (off < ph.p_offset || off - ph.p_offset >= ph.p_filesz)
			continue;
		*ret = off - ph.p_offset + ph.p_vaddr + bias;
		return true;
	}
	return false;
}

const char *ptc_srcline_find(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off,
			     int *ret_line)
{
	struct ptc_srcline_module *m = module_of(s, f);
	Dwfl_Line *line;
	Dwarf_Addr addr;

	if (!m || !m->dwfl || !address_of(m->mod, off, &addr))
		return NULL;
	line = dwfl_module_getsrc(m->mod, addr);
	return line ? dwfl_lineinfo(line, NULL, ret_line, NULL, NULL, NULL) : NULL;
}

/* Is there code in the file at @addr? What the linker left out has its lines at 0, or anywhere. */
static bool has_code(Dwfl_Module *mod, Dwarf_Addr addr)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);
	size_t i = 0;
	GElf_Phdr ph;

	while (next_load(elf, &i, &ph))
		if (ph.p_flags & PF_X && addr - bias >= ph.p_vaddr &&
		    addr - bias - ph.p_vaddr < ph.p_filesz)
			return true;
	return false;
}

static Dwarf_Addr address_at(Dwarf_Die *cu, size_t i)
{
	Dwarf_Addr addr = 0;

	(void)dwfl_lineinfo(dwfl_onesrcline(cu, i), &addr, NULL, NULL, NULL, NULL);
	return addr;
}

/*
 * A row of the table of lines, if there is something to be told: it has code if the next one is not
 * at its address, and no line if that is 0, or it ends a sequence.
 */
static int tell_row(Dwfl_Module *mod, Dwarf_Die *cu, size_t i,
		    int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	Dwfl_Line *row = dwfl_onesrcline(cu, i);
	Dwarf_Addr addr, bias;
	Dwarf_Line *line = row ? dwfl_dwarf_line(row, &bias) : NULL;
	const char *file;
	bool ends = true;
	int nr = 0;

	if (!line || dwarf_lineendsequence(line, &ends) || ends)
		return 0;
	file = dwfl_lineinfo(row, &addr, &nr, NULL, NULL, NULL);
	if (!file || !nr || address_at(cu, i + 1) == addr || !has_code(mod, addr))
		return 0;
	return on_line(ctx, file, nr);
}

int ptc_srclines_each(const struct ptc_srclines *s,
		      int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu;
	size_t i, k, n;
	int r = 0;

	for (i = 0; i < s->n; i++) {
		Dwfl_Module *mod = s->modules[i].dwfl ? s->modules[i].mod : NULL;

		for (cu = NULL; mod && (cu = dwfl_module_nextcu(mod, cu, &bias)) != NULL;) {
			if (dwfl_getsrclines(cu, &n))
				continue;
			/* The last one is the end of a sequence. */
			for (k = 0; k + 1 < n && !r; k++)
				r = tell_row(mod, cu, k, on_line, ctx);
			if (r)
				return r;
		}
	}
	return 0;
}

void ptc_srclines_release(struct ptc_srclines *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->modules[i].dwfl)
			dwfl_end(s->modules[i].dwfl);
	free(s->modules);
	*s = (struct ptc_srclines)PTC_SRCLINES_INIT;
}

const char *ptc_decode_srcline(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			       int *ret_line)
{
	const struct ptc_proc *p = ptc_procs_find(&d->procs, item->pid);
	const struct ptc_range *r = p && ip ? ptc_addrspace_find(&p->as, ip) : NULL;

	if (!r || !r->file || !r->file->path)
		return NULL;
	return ptc_srcline_find(&d->srclines, r->file, ip - r->start + r->off, ret_line);
}

int ptc_decode_each_srcline(struct ptc_decode *d,
			    int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	return ptc_srclines_each(&d->srclines, on_line, ctx);
}
