/* SPDX-License-Identifier: MIT */
#include "decode/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

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
	*f = (struct elf_file){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (f->fd < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	(void)elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF)
		return 0;
	elf_file_close(f);
	return ptc_fail(err, PTC_E_FORMAT, "'%s' is no ELF file, so it has no symbols", path);
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
	return ptc_fail(err, PTC_E_NOT_EXIST, "'%s' has nothing at address 0x%llx", f->path,
			(unsigned long long)addr);
}

static bool is_code(Elf *elf, const GElf_Sym *sym)
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

/* Count the addresses that have @name in one table; the newest is *ret. */
static size_t search(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, const char *name, size_t found,
		     uint64_t *ret)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	int i;

	for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *s = elf_strptr(elf, sh->sh_link, sym.st_name);

		if (!s || strcmp(s, name) != 0 || !is_code(elf, &sym))
			continue;
		if (found && *ret == sym.st_value)
			continue; /* .symtab repeats .dynsym */
		*ret = sym.st_value;
		found++;
	}
	return found;
}

static int symbol_addr(const struct elf_file *f, const char *name, uint64_t *ret,
		       struct ptc_err *err)
{
	Elf_Scn *scn = NULL;
	size_t found = 0;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(f->elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			found = search(f->elf, scn, &sh, name, found, ret);
	if (found == 1)
		return 0;
	if (found)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' has %zu functions '%s'; give the address of one, as nm(1) "
				"shows it: 0xADDRESS@%s",
				f->path, found, name, f->path);
	return ptc_fail(err, PTC_E_NOT_EXIST,
			"'%s' has no function '%s' (if it is in a library: %s@LIBRARY)", f->path,
			name, name);
}

int ptc_locate_symbol(const char *path, const char *name, uint64_t *ret_off, struct ptc_err *err)
{
	struct elf_file f;
	uint64_t addr = 0;
	int rc = elf_file_open(&f, path, err);

	if (rc)
		return rc;
	rc = symbol_addr(&f, name, &addr, err);
	if (!rc)
		rc = to_offset(&f, addr, ret_off, err);
	elf_file_close(&f);
	return rc;
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
