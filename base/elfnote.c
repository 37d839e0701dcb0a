/* SPDX-License-Identifier: MIT */
#include "base/elfnote.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/untrusted.h"

#define NOTE_HEADER ((size_t)12)

/* Limit for notes in a file: build-ids come early, and a core's notes can be very large. */
enum { NOTES_MAX = 1 << 16 };

/*
 * Scan the notes of one segment: namesz, descsz, type, name, desc. desc and the next note are
 * aligned to 4 bytes from the note's start, or to 8 if p_align is 8.
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

/*
 * An image in memory or in a file. A file can be truncated at any time, so it is read, not mapped.
 */
struct image {
	const uint8_t *bytes; /* NULL: use fd */
	int fd;
	uint64_t len;
};

/* Returns @n bytes at @off, borrowed from the image or read into @buf. NULL: not all available. */
static const uint8_t *read_image_bytes(const struct image *m, uint64_t off, size_t n, uint8_t *buf)
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
	p = read_image_bytes(m, off, (size_t)size, buf);
	if (p)
		found = scan_notes(ptc_cur_init(p, (size_t)size), align, ret);
	free(buf);
	return found;
}

/* Layout of the segment or section table of one ELF class. */
struct layout {
	size_t header;		       /* size in bytes */
	size_t tab_off, tab_n;	       /* header fields: offset of the table, number of entries */
	size_t entry;		       /* size in bytes */
	size_t type, off, size, align; /* offsets of fields in an entry */
	uint32_t note;		       /* type of an entry for notes */
	bool is64;
};

#define SEGMENTS(bits)                                                                             \
	{                                                                                          \
		.header = sizeof(Elf##bits##_Ehdr),                                                \
		.tab_off = offsetof(Elf##bits##_Ehdr, e_phoff),                                    \
		.tab_n = offsetof(Elf##bits##_Ehdr, e_phnum), .entry = sizeof(Elf##bits##_Phdr),   \
		.type = offsetof(Elf##bits##_Phdr, p_type),                                        \
		.off = offsetof(Elf##bits##_Phdr, p_offset),                                       \
		.size = offsetof(Elf##bits##_Phdr, p_filesz),                                      \
		.align = offsetof(Elf##bits##_Phdr, p_align), .note = PT_NOTE,                     \
		.is64 = (bits) == 64                                                               \
	}

/* Object files that are not linked yet (kernel modules) have sections but no segments. */
#define SECTIONS(bits)                                                                             \
	{                                                                                          \
		.header = sizeof(Elf##bits##_Ehdr),                                                \
		.tab_off = offsetof(Elf##bits##_Ehdr, e_shoff),                                    \
		.tab_n = offsetof(Elf##bits##_Ehdr, e_shnum), .entry = sizeof(Elf##bits##_Shdr),   \
		.type = offsetof(Elf##bits##_Shdr, sh_type),                                       \
		.off = offsetof(Elf##bits##_Shdr, sh_offset),                                      \
		.size = offsetof(Elf##bits##_Shdr, sh_size),                                       \
		.align = offsetof(Elf##bits##_Shdr, sh_addralign), .note = SHT_NOTE,               \
		.is64 = (bits) == 64                                                               \
	}

static uint64_t word(const struct layout *l, const uint8_t *p)
{
	return l->is64 ? ptc_le64(p) : ptc_le32(p);
}

static int scan_table(const struct image *m, const struct layout *l, struct ptc_build_id *ret)
{
	uint8_t buf[sizeof(Elf64_Ehdr) > sizeof(Elf64_Shdr) ? sizeof(Elf64_Ehdr) :
							      sizeof(Elf64_Shdr)];
	const uint8_t *p = read_image_bytes(m, 0, l->header, buf);
	uint64_t at;
	size_t i, n;

	if (!p)
		return 0;
	at = word(l, p + l->tab_off);
	n = ptc_le16(p + l->tab_n);
	for (i = 0; i < n && at <= m->len; i++, at += l->entry) {
		p = read_image_bytes(m, at, l->entry, buf);
		if (!p)
			return 0;
		if (ptc_le32(p + l->type) == l->note &&
		    scan_segment(m, word(l, p + l->off), word(l, p + l->size),
				 word(l, p + l->align), ret))
			return 1;
	}
	return 0;
}

static int scan_image(const struct image *m, struct ptc_build_id *ret)
{
	static const struct layout segments[] = { SEGMENTS(32), SEGMENTS(64) },
				   sections[] = { SECTIONS(32), SECTIONS(64) };
	uint8_t buf[offsetof(Elf64_Ehdr, e_type) + 2];
	const uint8_t *h;
	bool is64;

	memset(ret, 0, sizeof(*ret));
	h = read_image_bytes(m, 0, sizeof(buf), buf);
	if (!h || memcmp(h, ELFMAG, SELFMAG) != 0 || h[EI_DATA] != ELFDATA2LSB)
		return 0;
	is64 = h[EI_CLASS] == ELFCLASS64;
	return scan_table(m,
			  ptc_le16(h + offsetof(Elf64_Ehdr, e_type)) == ET_REL ? &sections[is64] :
										 &segments[is64],
			  ret);
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

int ptc_elf_build_id_file(const char *path, size_t root, struct ptc_build_id *ret,
			  struct ptc_err *err)
{
	const struct ptc_untrusted how = { .root = root };
	struct stat st;
	int fd, rc;

	memset(ret, 0, sizeof(*ret));
	fd = ptc_untrusted_open(path, &how, &st, err);
	if (fd < 0)
		return fd;
	rc = ptc_elf_build_id_fd(fd, (uint64_t)st.st_size, ret);
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
