/* SPDX-License-Identifier: MIT */
/*
 * Description: the memory that the sections of an ELF file need is known before libelf reads them.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/budget.h"
#include "decode/elf/elf_memory.h"
#include "lib_elf.h"
#include "ptcap/memory.h"

#define GIB ((uint64_t)1 << 30)

/* A section of each kind. The last one claims an unpacked size of @size bytes. */
struct file {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[4];
	Elf64_Chdr ch;
	uint8_t older[16];
};

static struct file make(uint64_t size)
{
	struct file f = {
		.eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     1 },
			.e_shoff = offsetof(struct file, sh),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4 },
		.sh = { [1] = { .sh_type = SHT_SYMTAB, .sh_size = 100 },
			[2] = { .sh_type = SHT_NOBITS, .sh_size = UINT64_MAX },
			[3] = { .sh_type = SHT_PROGBITS,
				.sh_flags = SHF_COMPRESSED,
				.sh_offset = offsetof(struct file, ch),
				.sh_size = sizeof(Elf64_Chdr) } },
		.ch = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = size },
	};

	return f;
}

/* Puts @bytes at the end of an allocation, so that a sanitizer sees a read past the end. */
static uint64_t needs(const void *bytes, size_t len, enum ptc_elf_memory_for what)
{
	uint8_t *copy = malloc(len ? len : 1);
	uint64_t n;
	int fd;

	memcpy(copy, bytes, len);
	n = ptc_elf_memory_bytes_need(copy, len, what);
	free(copy);
	fd = memfd_create("elf", 0);
	cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
	cr_assert_eq(ptc_elf_memory_needs(fd, what), n);
	close(fd);
	return n;
}

Test(elf_memory, a_compressed_section_needs_what_it_claims)
{
	const struct file f = make(GIB);
	const uint64_t n = needs(&f, sizeof(f), PTC_ELF_MEMORY_DEBUG);

	cr_assert(n > GIB && n < GIB + 10000);
}

Test(elf_memory, names_need_no_debug_sections)
{
	struct file f = make(GIB);

	cr_assert(needs(&f, sizeof(f), PTC_ELF_MEMORY_NAMES) < 10000);
	f.sh[3].sh_type = SHT_STRTAB;
	cr_assert(needs(&f, sizeof(f), PTC_ELF_MEMORY_NAMES) > GIB);
}

Test(elf_memory, the_older_form_of_compression_counts)
{
	static const uint8_t older[] = {
		'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0
	};
	struct file f = make(0);

	memcpy(f.older, older, sizeof(older));
	f.sh[3].sh_flags = 0;
	f.sh[3].sh_offset = offsetof(struct file, older);
	f.sh[3].sh_size = sizeof(f.older);
	cr_assert(needs(&f, sizeof(f), PTC_ELF_MEMORY_DEBUG) > GIB);
}

Test(elf_memory, sums_do_not_wrap)
{
	struct file f = make(UINT64_MAX);

	f.sh[1] = f.sh[3];
	cr_assert_eq(needs(&f, sizeof(f), PTC_ELF_MEMORY_DEBUG), UINT64_MAX);
}

Test(elf_memory, a_section_outside_the_file_needs_nothing)
{
	struct file f = make(0);

	f.sh[1].sh_size = GIB;
	cr_assert(needs(&f, sizeof(f), PTC_ELF_MEMORY_NAMES) < 10000);
}

Test(elf_memory, files_of_32_bits_count)
{
	struct {
		Elf32_Ehdr eh;
		Elf32_Shdr sh[2];
		Elf32_Chdr ch;
	} f = { .eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     1 },
			.e_shoff = sizeof(Elf32_Ehdr),
			.e_shnum = 2 },
		.sh = { [1] = { .sh_type = SHT_PROGBITS,
				.sh_flags = SHF_COMPRESSED,
				.sh_offset = sizeof(Elf32_Ehdr) + 2 * sizeof(Elf32_Shdr),
				.sh_size = sizeof(Elf32_Chdr) } },
		.ch = { .ch_size = (uint32_t)GIB } };

	cr_assert(needs(&f, sizeof(f), PTC_ELF_MEMORY_DEBUG) > GIB);
}

Test(elf_memory, more_sections_than_there_can_be_are_refused)
{
	struct file f = make(0);

	f.eh.e_shnum = 0; /* the number is in section 0 */
	f.sh[0].sh_size = 4;
	cr_assert(needs(&f, sizeof(f), PTC_ELF_MEMORY_NAMES) < 10000);
	f.sh[0].sh_size = UINT64_MAX / 64;
	cr_assert_eq(needs(&f, sizeof(f), PTC_ELF_MEMORY_NAMES), UINT64_MAX);
}

Test(elf_memory, what_is_no_elf_file_is_refused)
{
	struct file f = make(0);
	size_t n;

	for (n = 0; n < sizeof(f); n++)
		(void)needs(&f, n, PTC_ELF_MEMORY_DEBUG);
	cr_assert_eq(needs("\x1f\x8b\x08packed", 9, PTC_ELF_MEMORY_DEBUG), UINT64_MAX);
	f.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	cr_assert_eq(needs(&f, sizeof(f), PTC_ELF_MEMORY_DEBUG), UINT64_MAX);
	cr_assert(!ptc_elf_memory_has(-1, PTC_ELF_MEMORY_DEBUG, "none", NULL));
}

Test(elf_memory, what_has_no_room_is_said_once)
{
	const struct file f = make(GIB);
	struct ptc_omitted_data left = { .n = 0 };
	const int fd = memfd_create("elf", 0);

	cr_assert_eq(write(fd, &f, sizeof(f)), (ssize_t)sizeof(f));
	ptc_memory_set_limit(GIB);
	cr_assert(!ptc_elf_memory_has(fd, PTC_ELF_MEMORY_DEBUG, "large", &left));
	cr_assert(!ptc_elf_memory_has(fd, PTC_ELF_MEMORY_DEBUG, "large", &left));
	cr_assert(ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, "large", &left));
	cr_assert_eq(left.n, 1);
	cr_assert_str_eq(left.v[0].file, "large");
	cr_assert_str_eq(left.v[0].what, "debug information");
	cr_assert(left.v[0].bytes > GIB);
	ptc_omitted_data_release(&left);
	close(fd);
}
