/* SPDX-License-Identifier: MIT */
#include "decode/elf/zstd_sections.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/budget.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/omitted_data.h"

enum { COMPRESSED_WITH_ZSTD = 2 }; /* ELFCOMPRESS_ZSTD, gABI */

struct image {
	uint8_t *bytes; /* contents of the file, or of its copy */
	uint64_t len;
};

static bool is_inside(const struct image *f, uint64_t off, uint64_t len)
{
	return off <= f->len && len <= f->len - off;
}

static bool section_at(const struct image *f, const Elf64_Ehdr *eh, size_t i, Elf64_Shdr *ret)
{
	const uint64_t off = eh->e_shoff + i * sizeof(*ret);

	if (off < eh->e_shoff || !is_inside(f, off, sizeof(*ret)))
		return false;
	memcpy(ret, f->bytes + off, sizeof(*ret));
	return true;
}

/* Gets the header of a section compressed with zstd. Returns false for any other section. */
static bool is_zstd(const struct image *f, const Elf64_Shdr *sh, Elf64_Chdr *ret)
{
	if (!(sh->sh_flags & SHF_COMPRESSED) || sh->sh_size < sizeof(*ret) ||
	    sh->sh_type == SHT_NOBITS || !is_inside(f, sh->sh_offset, sh->sh_size))
		return false;
	memcpy(ret, f->bytes + sh->sh_offset, sizeof(*ret));
	return ret->ch_type == COMPRESSED_WITH_ZSTD;
}

static bool read_header(const struct image *f, Elf64_Ehdr *eh)
{
	if (f->len < sizeof(*eh))
		return false;
	memcpy(eh, f->bytes, sizeof(*eh));
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_ident[EI_DATA] == ELFDATA2LSB && eh->e_shentsize == sizeof(Elf64_Shdr);
}

/* Returns how many bytes longer the copy is; 0: no copy is needed, or none can be made. */
static uint64_t room_for(const struct image *f, const Elf64_Ehdr *eh)
{
	uint64_t room = 0;
	Elf64_Shdr sh;
	Elf64_Chdr ch;
	size_t i;

	for (i = 0; i < eh->e_shnum && section_at(f, eh, i, &sh); i++) {
		if (!is_zstd(f, &sh, &ch))
			continue;
		if (ch.ch_size > INT64_MAX / 2 - room)
			return 0;
		room += (ch.ch_size + 15) & ~UINT64_C(15);
	}
	return room;
}

/* Decompresses section @i of @copy to @at, moves @at behind it, and updates the section header. */
static bool unpack(struct image *copy, const Elf64_Ehdr *eh, size_t i, uint64_t *at)
{
	Elf64_Shdr sh;
	Elf64_Chdr ch;
	size_t n;

	if (!section_at(copy, eh, i, &sh) || !is_zstd(copy, &sh, &ch))
		return true;
	n = ZSTD_decompress(copy->bytes + *at, ch.ch_size, copy->bytes + sh.sh_offset + sizeof(ch),
			    sh.sh_size - sizeof(ch));
	if (ZSTD_isError(n) || n != ch.ch_size)
		return false;
	sh.sh_offset = *at;
	sh.sh_size = ch.ch_size;
	sh.sh_addralign = ch.ch_addralign;
	sh.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	memcpy(copy->bytes + eh->e_shoff + i * sizeof(sh), &sh, sizeof(sh));
	*at += (ch.ch_size + 15) & ~UINT64_C(15);
	return true;
}

static bool fill(struct image *copy, const struct image *f, const Elf64_Ehdr *eh)
{
	uint64_t at = (f->len + 15) & ~UINT64_C(15);
	bool ok = true;
	size_t i;

	memcpy(copy->bytes, f->bytes, f->len);
	for (i = 0; ok && i < eh->e_shnum; i++)
		ok = unpack(copy, eh, i, &at);
	return ok;
}

/* Makes a copy that is @room bytes longer. Returns -1 on failure. *@ret_len: length of the copy. */
static int copy_of(const struct image *f, const Elf64_Ehdr *eh, uint64_t room, uint64_t *ret_len)
{
	struct image copy = { .len = 0 };
	bool ok;
	int fd;

	fd = memfd_create("ptcap-debug", MFD_CLOEXEC);
	copy.len = ((f->len + 15) & ~UINT64_C(15)) + room;
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)copy.len)) {
		(void)close(fd);
		return -1;
	}
	copy.bytes = mmap(NULL, copy.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ok = copy.bytes != MAP_FAILED && fill(&copy, f, eh);
	if (copy.bytes != MAP_FAILED)
		(void)munmap(copy.bytes, copy.len);
	if (ok) {
		*ret_len = copy.len;
		return fd;
	}
	(void)close(fd);
	return -1;
}

/*
 * Reads the file instead of mapping it: if a mapped file is truncated, an access kills the process.
 */
static bool read_image(int fd, const struct stat *st, struct image *f)
{
	uint64_t done = 0;
	ssize_t n;

	f->len = (uint64_t)st->st_size;
	f->bytes = malloc(f->len);
	while (f->bytes && done < f->len) {
		n = pread(fd, f->bytes + done, f->len - done, (off_t)done);
		if (n <= 0)
			return false;
		done += (uint64_t)n;
	}
	return f->bytes;
}

/* Returns true if a section is compressed with zstd. Reads only headers. */
static bool has_zstd(int fd, const struct stat *st)
{
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	Elf64_Chdr ch;
	size_t i;

	if (!S_ISREG(st->st_mode) || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (i = 0; i < eh.e_shnum; i++)
		if (pread(fd, &sh, sizeof(sh), (off_t)(eh.e_shoff + i * sizeof(sh))) ==
			    sizeof(sh) &&
		    sh.sh_flags & SHF_COMPRESSED &&
		    pread(fd, &ch, sizeof(ch), (off_t)sh.sh_offset) == sizeof(ch) &&
		    ch.ch_type == COMPRESSED_WITH_ZSTD)
			return true;
	return false;
}

/*
 * Gets the decompressed copy in *@ret; -1: none can be made. Returns false if the memory budget
 * does not allow it.
 */
static bool copy_file(int fd, const struct stat *st, const char *file,
		      struct ptc_omitted_data *left, int *ret)
{
	struct image f = { .bytes = NULL };
	uint64_t len = 0, room = 0;
	Elf64_Ehdr eh;

	*ret = -1;
	if (!ptc_elf_memory_allows((uint64_t)st->st_size, "debug information", file, left))
		return false;
	if (read_image(fd, st, &f) && read_header(&f, &eh))
		room = room_for(&f, &eh);
	if (room && !ptc_elf_memory_allows(f.len + room, "debug information", file, left)) {
		free(f.bytes);
		return false;
	}
	if (room)
		*ret = copy_of(&f, &eh, room, &len);
	free(f.bytes);
	if (*ret >= 0) {
		ptc_budget_hold(len);
		if (left)
			left->held += len;
	}
	return true;
}

int ptc_unzstd_fd(int fd, const char *file, struct ptc_omitted_data *left)
{
	struct stat st;
	int copy;

	if (fd < 0)
		return -1;
	if (!ptc_elf_memory_has(fd, PTC_ELF_MEMORY_DEBUG, file, left))
		goto none;
	if (fstat(fd, &st) || !has_zstd(fd, &st))
		return fd;
	if (!copy_file(fd, &st, file, left, &copy))
		goto none;
	if (copy < 0)
		return fd;
	(void)close(fd);
	return copy;
none:
	(void)close(fd);
	return -1;
}
