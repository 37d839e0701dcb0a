/* SPDX-License-Identifier: MIT */
#include "decode/elf/elf_memory.h"

#include <elf.h>
#include <gelf.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"

enum {
	/* least memory that libelf keeps of each section, and of each segment */
	SECTION_COST = 512,
	HEADERS = 64, /* headers that are read at once */
};

/* An ELF file, of either class. */
struct image {
	int fd;		      /* valid if bytes are NULL */
	const uint8_t *bytes; /* lent */
	uint64_t len;
	bool wide; /* ELFCLASS64 */
	uint64_t headers, nsections, nsegments;
};

static bool read_at(const struct image *f, uint64_t off, void *to, size_t len)
{
	if (off > f->len || len > f->len - off)
		return false;
	if (!f->bytes)
		return pread(f->fd, to, len, (off_t)off) == (ssize_t)len;
	memcpy(to, f->bytes + off, len);
	return true;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static Elf64_Shdr widen(const Elf32_Shdr *sh)
{
	return (Elf64_Shdr){ .sh_type = sh->sh_type,
			     .sh_flags = sh->sh_flags,
			     .sh_offset = sh->sh_offset,
			     .sh_size = sh->sh_size,
			     .sh_info = sh->sh_info };
}

/*
 * Read the headers of sections from number @first on, HEADERS at most. Returns how many. 0: they
 * are not in the file.
 */
static size_t read_headers(const struct image *f, uint64_t first, Elf64_Shdr ret[HEADERS])
{
	const uint64_t each = f->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	const uint64_t more = f->nsections - first;
	const size_t n = more < HEADERS ? (size_t)more : HEADERS;
	Elf32_Shdr narrow[HEADERS];
	size_t i;

	if (!read_at(f, f->headers + first * each, f->wide ? (void *)ret : narrow, n * each))
		return 0;
	for (i = 0; i < n && !f->wide; i++)
		ret[i] = widen(&narrow[i]);
	return n;
}

/* Large numbers of sections and segments are in the header of section 0. */
static bool read_large(struct image *f)
{
	const uint64_t each = f->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	const uint64_t room = f->headers < f->len ? (f->len - f->headers) / each : 0;
	const uint64_t had = f->headers ? f->nsections : 0;
	Elf64_Shdr first[HEADERS];

	if (f->headers && (!f->nsections || f->nsegments == PN_XNUM)) {
		f->nsections = 1;
		if (!read_headers(f, 0, first))
			return false;
		f->nsections = had ? had : first[0].sh_size;
		if (f->nsegments == PN_XNUM)
			f->nsegments = first[0].sh_info;
	}
	if (f->headers && f->nsections <= room)
		return true;
	f->nsections = 0; /* libelf reads none, either */
	return !f->headers || had;
}

static bool read_header(struct image *f)
{
	Elf64_Ehdr eh;

	memset(&eh, 0, sizeof(eh));
	if (!read_at(f, 0, &eh, sizeof(eh) <= f->len ? sizeof(eh) : sizeof(Elf32_Ehdr)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	f->wide = eh.e_ident[EI_CLASS] == ELFCLASS64;
	f->headers = eh.e_shoff;
	f->nsections = eh.e_shnum;
	f->nsegments = eh.e_phnum;
	if (!f->wide) {
		Elf32_Ehdr narrow;

		memcpy(&narrow, &eh, sizeof(narrow));
		f->headers = narrow.e_shoff;
		f->nsections = narrow.e_shnum;
		f->nsegments = narrow.e_phnum;
	}
	return read_large(f);
}

/*
 * Returns the uncompressed size of a section, by its compression header or the older form. 0: it is
 * not compressed.
 */
static uint64_t unpacked_size(const struct image *f, const Elf64_Shdr *sh)
{
	static const uint8_t magic[] = { 'Z', 'L', 'I', 'B' };
	uint8_t older[sizeof(magic) + 8];
	uint64_t n = 0;
	size_t i;

	if (sh->sh_flags & SHF_COMPRESSED) {
		Elf64_Chdr wide;
		Elf32_Chdr narrow;

		if (f->wide)
			return read_at(f, sh->sh_offset, &wide, sizeof(wide)) ? wide.ch_size : 0;
		return read_at(f, sh->sh_offset, &narrow, sizeof(narrow)) ? narrow.ch_size : 0;
	}
	if (sh->sh_type != SHT_PROGBITS || sh->sh_flags & SHF_ALLOC ||
	    sh->sh_size < sizeof(older) || !read_at(f, sh->sh_offset, older, sizeof(older)) ||
	    memcmp(older, magic, sizeof(magic)) != 0)
		return 0;
	for (i = sizeof(magic); i < sizeof(older); i++)
		n = n << 8 | older[i];
	return n;
}

static uint64_t section_needs(const struct image *f, const Elf64_Shdr *sh,
			      enum ptc_elf_memory_for what)
{
	const bool is_inside = sh->sh_offset <= f->len && sh->sh_size <= f->len - sh->sh_offset;

	if (sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL || !is_inside ||
	    (what == PTC_ELF_MEMORY_NAMES && sh->sh_type == SHT_PROGBITS))
		return 0;
	return sum(sh->sh_size, unpacked_size(f, sh));
}

static uint64_t image_needs(struct image *f, enum ptc_elf_memory_for what)
{
	Elf64_Shdr headers[HEADERS];
	uint64_t ret, at = 0;
	size_t n, i;

	if (!read_header(f))
		return UINT64_MAX;
	ret = sum(f->nsections * SECTION_COST, f->nsegments * SECTION_COST);
	for (; at < f->nsections; at += n) {
		n = read_headers(f, at, headers);
		if (!n)
			return UINT64_MAX;
		for (i = 0; i < n; i++)
			ret = sum(ret, section_needs(f, &headers[i], what));
	}
	return ret;
}

uint64_t ptc_elf_memory_needs(int fd, enum ptc_elf_memory_for what)
{
	struct image f = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return UINT64_MAX;
	f.len = (uint64_t)st.st_size;
	return image_needs(&f, what);
}

uint64_t ptc_elf_memory_bytes_need(const uint8_t *bytes, size_t len, enum ptc_elf_memory_for what)
{
	struct image f = { .bytes = bytes, .len = len };

	return image_needs(&f, what);
}

bool ptc_elf_memory_allows(uint64_t bytes, const char *what, const char *file,
			   struct ptc_omitted_data *left)
{
	if (ptc_budget_allows(bytes))
		return true;
	ptc_omitted_data_add(left, file, what, bytes);
	return false;
}

bool ptc_elf_memory_has(int fd, enum ptc_elf_memory_for what, const char *file,
			struct ptc_omitted_data *left)
{
	static const char *const words[] = { [PTC_ELF_MEMORY_NAMES] = "table of names",
					     [PTC_ELF_MEMORY_DEBUG] = "debug information" };
	const uint64_t n = fd < 0 ? UINT64_MAX : ptc_elf_memory_needs(fd, what);

	if (n == UINT64_MAX)
		return false;
	if (what == PTC_ELF_MEMORY_NAMES ? ptc_budget_allows(n) : ptc_budget_allows_fragile(n))
		return true;
	ptc_omitted_data_add(left, file, words[what], n);
	return false;
}

Elf_Data *ptc_elf_memory_data(Elf_Scn *scn)
{
	GElf_Shdr sh;

	return gelf_getshdr(scn, &sh) &&
			       (sh.sh_type == SHT_NOBITS || ptc_budget_allows(sh.sh_size)) ?
		       elf_getdata(scn, NULL) :
		       NULL;
}
