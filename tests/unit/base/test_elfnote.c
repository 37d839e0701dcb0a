/* SPDX-License-Identifier: MIT */
/* Description: build-ids in ELF images built by this test, of both classes, whole and cut. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/elfnote.h"
#include "base/io.h"

static const uint8_t id20[20] = { 0xde, 0xad, 3,  4,  5,  6,  7,  8,  9,  10,
				  11,	12,   13, 14, 15, 16, 17, 18, 19, 0xf0 };

static void put_note(struct ptc_buf *b, uint32_t type, const char *name, uint32_t descsz,
		     size_t align)
{
	const uint32_t namesz = (uint32_t)strlen(name) + 1;

	ptc_buf_le32(b, namesz);
	ptc_buf_le32(b, descsz);
	ptc_buf_le32(b, type);
	ptc_buf_put(b, name, namesz);
	while (b->len % align)
		ptc_buf_u8(b, 0);
	ptc_buf_put(b, id20, descsz);
	while (b->len % align)
		ptc_buf_u8(b, 0);
}

struct shape {
	bool is64;
	bool other_first; /* another note comes first */
	bool sections;	  /* not linked yet: no segments */
	uint32_t descsz;  /* length of the build-id */
	size_t align;	  /* alignment of the notes */
};

static void put_sections(struct ptc_buf *b, const struct shape *s, size_t notes, size_t len)
{
	const Elf64_Ehdr eh64 = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				  .e_type = ET_REL,
				  .e_shoff = sizeof(eh64),
				  .e_shnum = 2 };
	const Elf32_Ehdr eh32 = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 },
				  .e_type = ET_REL,
				  .e_shoff = sizeof(eh32),
				  .e_shnum = 2 };
	const Elf64_Shdr sh64[2] = { { .sh_type = SHT_PROGBITS, .sh_size = 99 },
				     { .sh_type = SHT_NOTE,
				       .sh_offset = notes,
				       .sh_size = len,
				       .sh_addralign = s->align } };
	const Elf32_Shdr sh32[2] = { { .sh_type = SHT_PROGBITS, .sh_size = 99 },
				     { .sh_type = SHT_NOTE,
				       .sh_offset = (Elf32_Off)notes,
				       .sh_size = (Elf32_Word)len,
				       .sh_addralign = (Elf32_Word)s->align } };

	if (s->is64) {
		ptc_buf_put(b, &eh64, sizeof(eh64));
		ptc_buf_put(b, sh64, sizeof(sh64));
	} else {
		ptc_buf_put(b, &eh32, sizeof(eh32));
		ptc_buf_put(b, sh32, sizeof(sh32));
	}
}

/* Makes an ELF image that ends with its build-id note. */
static void make_elf(struct ptc_buf *b, const struct shape *s)
{
	const size_t ehsize = s->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	const size_t phsize = s->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	const size_t shsize = s->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	const size_t notes = ehsize + 2 * (s->sections ? shsize : phsize);
	struct ptc_buf n = PTC_BUF_INIT;

	if (s->other_first)
		put_note(&n, 1, "stapsdt", 5, s->align);
	put_note(&n, NT_GNU_BUILD_ID, "GNU", s->descsz, s->align);
	ptc_buf_reset(b);
	if (s->sections) {
		put_sections(b, s, notes, n.len);
	} else if (s->is64) {
		const Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
						     1 },
					.e_phoff = ehsize,
					.e_phnum = 2 };
		const Elf64_Phdr ph[2] = { { .p_type = PT_LOAD, .p_filesz = 99 },
					   { .p_type = PT_NOTE,
					     .p_offset = notes,
					     .p_filesz = n.len,
					     .p_align = s->align } };

		ptc_buf_put(b, &eh, sizeof(eh));
		ptc_buf_put(b, ph, sizeof(ph));
	} else {
		const Elf32_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB,
						     1 },
					.e_phoff = (Elf32_Off)ehsize,
					.e_phnum = 2 };
		const Elf32_Phdr ph[2] = { { .p_type = PT_LOAD, .p_filesz = 99 },
					   { .p_type = PT_NOTE,
					     .p_offset = (Elf32_Off)notes,
					     .p_filesz = (Elf32_Word)n.len,
					     .p_align = (Elf32_Word)s->align } };

		ptc_buf_put(b, &eh, sizeof(eh));
		ptc_buf_put(b, ph, sizeof(ph));
	}
	ptc_buf_put(b, n.bytes, n.len);
	ptc_buf_release(&n);
}

static const struct shape shapes[] = {
	{ true, false, false, 20, 4 }, { true, true, false, 20, 4 },
	{ true, true, false, 20, 8 },  { true, true, false, 8, 4 },
	{ false, true, false, 20, 4 }, { false, false, false, 16, 4 },
	{ true, false, true, 20, 4 },  { true, true, true, 20, 8 },
	{ false, true, true, 20, 4 },
};

#define EACH_SHAPE(i)                                                                              \
	(i) = 0;                                                                                   \
	(i) < sizeof(shapes) / sizeof(shapes[0]);                                                  \
	(i)++

Test(elfnote, the_build_id_is_found)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;
	size_t i;

	for (EACH_SHAPE(i)) {
		make_elf(&b, &shapes[i]);
		cr_assert_eq(ptc_elf_build_id(b.bytes, b.len, &id), 1, "shape %zu", i);
		cr_assert_eq(id.len, shapes[i].descsz);
		cr_assert_arr_eq(id.bytes, id20, id.len);
	}
	ptc_buf_release(&b);
}

Test(elfnote, a_cut_image_has_no_build_id)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;
	size_t i, len;

	for (EACH_SHAPE(i)) {
		size_t need;

		make_elf(&b, &shapes[i]);
		/* The image must contain the whole note segment, with its padding. */
		need = b.len;
		for (len = 0; len <= b.len; len++) {
			uint8_t *p = malloc(len ? len : 1);

			memcpy(p, b.bytes, len);
			cr_assert_eq(ptc_elf_build_id(p, len, &id), len >= need,
				     "shape %zu cut at %zu of %zu", i, len, b.len);
			cr_assert_eq(id.len, len >= need ? shapes[i].descsz : 0);
			free(p);
		}
	}
	ptc_buf_release(&b);
}

/* Sets each byte of the image to each of these values. No result may cause a read out of bounds. */
Test(elfnote, damage_is_no_crash)
{
	static const uint8_t values[] = { 0, 1, 4, 0x7f, 0x80, 0xff };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;
	const int fd = memfd_create("test", MFD_CLOEXEC);
	struct ptc_build_id from_fd;
	size_t i, at, v;

	cr_assert_geq(fd, 0);
	for (EACH_SHAPE(i)) {
		make_elf(&b, &shapes[i]);
		for (at = 0; at < b.len; at++)
			for (v = 0; v < sizeof(values); v++) {
				uint8_t *p = malloc(b.len);

				memcpy(p, b.bytes, b.len);
				p[at] = values[v];
				cr_assert_eq(ptc_elf_build_id(p, b.len, &id), id.len != 0);
				cr_assert_leq(id.len, PTC_BUILD_ID_MAX);
				/* Reading the file in chunks gives the same result. */
				cr_assert_eq(pwrite(fd, p, b.len, 0), (ssize_t)b.len);
				(void)ptc_elf_build_id_fd(fd, b.len, &from_fd);
				cr_assert_eq(memcmp(&from_fd, &id, sizeof(id)), 0);
				free(p);
			}
	}
	close(fd);
	ptc_buf_release(&b);
}

Test(elfnote, a_build_id_that_is_too_long_is_none)
{
	const uint8_t note[12 + 4 + 24] = { 4, 0, 0, 0,	  24,  0,  0, 0, NT_GNU_BUILD_ID,
					    0, 0, 0, 'G', 'N', 'U' };
	const Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				.e_phoff = sizeof(eh),
				.e_phnum = 1 };
	const Elf64_Phdr ph = { .p_type = PT_NOTE,
				.p_offset = sizeof(eh) + sizeof(ph),
				.p_filesz = sizeof(note) };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;

	ptc_buf_put(&b, &eh, sizeof(eh));
	ptc_buf_put(&b, &ph, sizeof(ph));
	ptc_buf_put(&b, note, sizeof(note));
	cr_assert_eq(ptc_elf_build_id(b.bytes, b.len, &id), 0);
	b.bytes[sizeof(eh) + sizeof(ph) + 4] = 20;
	cr_assert_eq(ptc_elf_build_id(b.bytes, b.len, &id), 1);
	ptc_buf_release(&b);
}

Test(elfnote, big_endian_and_text_have_none)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;

	make_elf(&b, &shapes[0]);
	b.bytes[EI_DATA] = ELFDATA2MSB;
	cr_assert_eq(ptc_elf_build_id(b.bytes, b.len, &id), 0);
	cr_assert_eq(ptc_elf_build_id("#!/bin/sh\n", 10, &id), 0);
	ptc_buf_release(&b);
}

Test(elfnote, files_are_read)
{
	char path[] = "/tmp/ptcap-elf-XXXXXX";
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;
	struct ptc_err err;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ptc_elf_build_id_file(path, 0, &id, &err), 0, "an empty file");
	make_elf(&b, &shapes[1]);
	cr_assert_eq(ptc_write_all(fd, b.bytes, b.len, path, &err), 0);
	cr_assert_eq(ptc_elf_build_id_file(path, 0, &id, &err), 1);
	cr_assert_arr_eq(id.bytes, id20, 20);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(ptc_elf_build_id_file(path, 0, &id, &err), PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, path));
	cr_assert_eq(ptc_elf_build_id_file("/", 0, &id, &err), PTC_E_UNSUPPORTED, "a folder");
	cr_assert_eq(close(fd), 0);
	ptc_buf_release(&b);
}

Test(elfnote, hex_is_lower_case)
{
	struct ptc_build_id id = { .bytes = { 0xde, 0xad, 0x00, 0x0f }, .len = 4 };
	char hex[2 * PTC_BUILD_ID_MAX + 1];

	ptc_build_id_hex(&id, hex);
	cr_assert_str_eq(hex, "dead000f");
	id.len = 0;
	ptc_build_id_hex(&id, hex);
	cr_assert_str_eq(hex, "");
}
