/* SPDX-License-Identifier: MIT */
#include "base/elfnote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/err.h"

#define NOTE_HEADER ((size_t)12)

/* Notes of a file are read up to this far: build-ids come early, notes of a core do not end. */
enum { NOTES_MAX = 1 << 16 };

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

/* An image in memory, or in a file: that may be cut at any time, so it is read, not mapped. */
struct image {
	const uint8_t *bytes; /* NULL: fd */
	int fd;
	uint64_t len;
};

/* @n bytes at @off: lent from the image, or read into @buf. NULL: not all there. */
static const uint8_t *get(const struct image *m, uint64_t off, size_t n, uint8_t *buf)
{
	size_t done = 0;
	ssize_t r;

	if (off > m->len || n > m->len - off)
		return NULL;
	if (m->bytes)
		return m->bytes + off;
	while (done < n) {
		r = pread(m->fd, buf + done, n - done, (off_t)(off + done));
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return NULL;
		done += (size_t)r;
	}
	return buf;
}

static int scan_segment(const struct image *m, uint64_t off, uint64_t size, uint64_t align,
			struct ptc_build_id *ret)
{
	uint8_t *buf = NULL;
	const uint8_t *p;
	int found = 0;

	if (!m->bytes) {
		if (off <= m->len && size <= m->len - off && size > NOTES_MAX)
			size = NOTES_MAX;
		buf = size <= NOTES_MAX ? malloc((size_t)size + 1) : NULL;
		if (!buf)
			return 0;
	}
	p = get(m, off, (size_t)size, buf);
	if (p)
		found = scan_notes(ptc_cur_init(p, (size_t)size), align, ret);
	free(buf);
	return found;
}

static int scan_image(const struct image *m, struct ptc_build_id *ret)
{
	uint8_t buf[sizeof(Elf64_Ehdr)];
	uint64_t phoff, off, size, align;
	size_t phsize, i, phnum;
	const uint8_t *h, *p;
	bool is64;

	memset(ret, 0, sizeof(*ret));
	h = get(m, 0, EI_NIDENT, buf);
	if (!h || memcmp(h, ELFMAG, SELFMAG) != 0 || h[EI_DATA] != ELFDATA2LSB)
		return 0;
	is64 = h[EI_CLASS] == ELFCLASS64;
	h = get(m, 0, is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), buf);
	if (!h)
		return 0;
	phsize = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	phoff = is64 ? ptc_le64(h + offsetof(Elf64_Ehdr, e_phoff)) :
		       ptc_le32(h + offsetof(Elf32_Ehdr, e_phoff));
	phnum = ptc_le16(h +
			 (is64 ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum)));
	for (i = 0; i < phnum && phoff <= m->len; i++, phoff += phsize) {
		p = get(m, phoff, phsize, buf);
		if (!p)
			return 0;
		if (ptc_le32(p) != PT_NOTE) /* p_type comes first in both classes */
			continue;
		off = is64 ? ptc_le64(p + offsetof(Elf64_Phdr, p_offset)) :
			     ptc_le32(p + offsetof(Elf32_Phdr, p_offset));
		size = is64 ? ptc_le64(p + offsetof(Elf64_Phdr, p_filesz)) :
			      ptc_le32(p + offsetof(Elf32_Phdr, p_filesz));
		align = is64 ? ptc_le64(p + offsetof(Elf64_Phdr, p_align)) :
			       ptc_le32(p + offsetof(Elf32_Phdr, p_align));
		if (scan_segment(m, off, size, align, ret))
			return 1;
	}
	return 0;
}

int ptc_elf_build_id(const void *image, size_t len, struct ptc_build_id *ret)
{
	const struct image m = { .bytes = image, .fd = -1, .len = len };

	memset(ret, 0, sizeof(*ret));
	return image ? scan_image(&m, ret) : 0;
}

int ptc_elf_build_id_fd(int fd, uint64_t len, struct ptc_build_id *ret)
{
	const struct image m = { .fd = fd, .len = len };

	return scan_image(&m, ret);
}

int ptc_elf_build_id_file(const char *path, struct ptc_build_id *ret, struct ptc_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (fd < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	if (fstat(fd, &st))
		rc = ptc_fail_sys(err, errno, "cannot stat '%s'", path);
	else
		rc = S_ISREG(st.st_mode) ? ptc_elf_build_id_fd(fd, (uint64_t)st.st_size, ret) : 0;
	(void)close(fd);
	return rc;
}

int ptc_elf_build_id_notes(const void *notes, size_t len, struct ptc_build_id *ret)
{
	return scan_notes(ptc_cur_init(notes, len), 4, ret);
}

bool ptc_build_id_same(const struct ptc_build_id *a, const struct ptc_build_id *b)
{
	const size_t n = a->len < b->len ? a->len : b->len;
	const struct ptc_build_id *longer = a->len > b->len ? a : b;
	size_t i;

	if (memcmp(a->bytes, b->bytes, n) != 0)
		return false;
	for (i = n; i < longer->len; i++)
		if (longer->bytes[i])
			return false;
	return n != 0;
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
