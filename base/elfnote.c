/* SPDX-License-Identifier: MIT */
#include "base/elfnote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/err.h"

#define NOTE_HEADER ((size_t)12)

/*
 * Notes of one segment: namesz, descsz, type, name, desc; desc and the next
 * note start at multiples of 4 (of 8 where p_align is 8) from the note's start.
 */
static int scan_notes(struct ptc_cur c, uint64_t align, struct ptc_build_id *ret)
{
	const size_t pad = align == 8 ? 7 : 3;
	uint32_t namesz, descsz, type;

	while (ptc_cur_le32(&c, &namesz) && ptc_cur_le32(&c, &descsz) && ptc_cur_le32(&c, &type)) {
		const uint8_t *name, *desc;

		if (!ptc_cur_bytes(&c, ((NOTE_HEADER + namesz + pad) & ~pad) - NOTE_HEADER,
				   &name) ||
		    !ptc_cur_bytes(&c, descsz, &desc))
			return 0;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(name, "GNU", 4) && descsz &&
		    descsz <= PTC_BUILD_ID_MAX) {
			memcpy(ret->bytes, desc, descsz);
			ret->len = (uint8_t)descsz;
			return 1;
		}
		if (!ptc_cur_skip(&c, (((size_t)descsz + pad) & ~pad) - descsz))
			return 0;
	}
	return 0;
}

int ptc_elf_build_id(const void *image, size_t len, struct ptc_build_id *ret)
{
	struct ptc_cur all = ptc_cur_init(image, len);
	struct ptc_cur c = all;
	const uint8_t *ident, *h;
	size_t ehsize, phsize, i, phnum;
	uint64_t phoff;
	bool is64;

	memset(ret, 0, sizeof(*ret));
	if (!ptc_cur_bytes(&c, EI_NIDENT, &ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	is64 = ident[EI_CLASS] == ELFCLASS64;
	ehsize = is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	phsize = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	c = all;
	if (!ptc_cur_bytes(&c, ehsize, &h))
		return 0;
	phoff = is64 ? ptc_le64(h + offsetof(Elf64_Ehdr, e_phoff)) :
		       ptc_le32(h + offsetof(Elf32_Ehdr, e_phoff));
	phnum = ptc_le16(h +
			 (is64 ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum)));
	c = all;
	if (phoff > len || !ptc_cur_skip(&c, (size_t)phoff))
		return 0;
	for (i = 0; i < phnum; i++) {
		uint64_t off, size, align;
		struct ptc_cur note = all, body;
		const uint8_t *p;

		if (!ptc_cur_bytes(&c, phsize, &p))
			return 0;
		if (ptc_le32(p) != PT_NOTE) /* p_type comes first in both classes */
			continue;
		off = is64 ? ptc_le64(p + offsetof(Elf64_Phdr, p_offset)) :
			     ptc_le32(p + offsetof(Elf32_Phdr, p_offset));
		size = is64 ? ptc_le64(p + offsetof(Elf64_Phdr, p_filesz)) :
			      ptc_le32(p + offsetof(Elf32_Phdr, p_filesz));
		align = is64 ? ptc_le64(p + offsetof(Elf64_Phdr, p_align)) :
			       ptc_le32(p + offsetof(Elf32_Phdr, p_align));
		if (off > len || size > len || !ptc_cur_skip(&note, (size_t)off) ||
		    !ptc_cur_sub(&note, (size_t)size, &body))
			continue;
		if (scan_notes(body, align, ret))
			return 1;
	}
	return 0;
}

int ptc_elf_build_id_file(const char *path, struct ptc_build_id *ret, struct ptc_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (fd < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	if (fstat(fd, &st)) {
		rc = ptc_fail_sys(err, errno, "cannot stat '%s'", path);
		(void)close(fd);
		return rc;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {
		(void)close(fd);
		return 0;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	rc = map == MAP_FAILED ? ptc_fail_sys(err, errno, "cannot map '%s'", path) : 0;
	(void)close(fd);
	if (rc)
		return rc;
	rc = ptc_elf_build_id(map, (size_t)st.st_size, ret);
	(void)munmap(map, (size_t)st.st_size);
	return rc;
}

void ptc_build_id_hex(const struct ptc_build_id *id, char *out)
{
	static const char hex[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < id->len; i++) {
		*out++ = hex[id->bytes[i] >> 4];
		*out++ = hex[id->bytes[i] & 15];
	}
	*out = '\0';
}
