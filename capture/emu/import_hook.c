/* SPDX-License-Identifier: MIT */
#include "capture/emu/import_hook.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct wanted {
	const char *name;
	void *function, **ret_found;
	bool done;
};

/* QEMU's dynamic section. */
struct dynamic {
	uint64_t bias;
	const Elf64_Rela *rela[2]; /* DT_JMPREL, DT_RELA */
	size_t n[2];
	const Elf64_Sym *symtab;
	const char *strtab;
};

static void parse(const Elf64_Dyn *dyn, struct dynamic *d)
{
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_JMPREL)
			d->rela[0] = (const Elf64_Rela *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_PLTRELSZ)
			d->n[0] = dyn->d_un.d_val / sizeof(*d->rela[0]);
		else if (dyn->d_tag == DT_RELA)
			d->rela[1] = (const Elf64_Rela *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_RELASZ)
			d->n[1] = dyn->d_un.d_val / sizeof(*d->rela[1]);
		else if (dyn->d_tag == DT_SYMTAB)
			d->symtab = (const Elf64_Sym *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_STRTAB)
			d->strtab = (const char *)dyn->d_un.d_ptr;
	}
}

static void replace(struct wanted *w, void **entry)
{
	void *page = (void *)((uintptr_t)entry & ~(uintptr_t)(PAGE - 1));

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		return;
	*w->ret_found = *entry;
	*entry = w->function;
	(void)mprotect(page, PAGE, PROT_READ);
	w->done = true;
}

static void look_in(const struct dynamic *d, const Elf64_Rela *rela, size_t n, struct wanted *w)
{
	size_t i;

	for (i = 0; rela && d->symtab && d->strtab && i < n; i++) {
		const Elf64_Sym *sym = &d->symtab[ELF64_R_SYM(rela[i].r_info)];
		const uint64_t type = ELF64_R_TYPE(rela[i].r_info);

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		    !strcmp(d->strtab + sym->st_name, w->name))
			replace(w, (void **)(d->bias + rela[i].r_offset));
	}
}

/* The first object is QEMU itself. */
static int search_qemu_imports(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct dynamic d = { .bias = info->dlpi_addr };
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			parse((const Elf64_Dyn *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
			      &d);
	for (i = 0; i < 2; i++)
		look_in(&d, d.rela[i], d.n[i], ctx);
	return 1;
}

bool ptc_emu_hook(const char *name, void *function, void **ret_found)
{
	struct wanted w = { name, function, ret_found, false };

	(void)dl_iterate_phdr(search_qemu_imports, &w);
	return w.done;
}
