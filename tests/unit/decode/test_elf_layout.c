/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/elf/elf_layout.h"
#include "lib_elf.h"

static const uint8_t code[64] = { 0xc3 };
static const uint64_t addr = 0x400000;

/* Returns a file without a name that has the bytes. */
static int file_of(const void *bytes, size_t len)
{
	const int fd = memfd_create("elf", 0);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
	return fd;
}

Test(elf_layout, has_addresses_and_bases_of_a_program)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_elf_layout *l;
	struct ptc_err err;
	uint64_t got = 0;

	le_program(&b, addr, 1, code, sizeof(code));
	cr_assert_eq(ptc_elf_layout_read(file_of(b.bytes, b.len), "x", &l, &err), 0);
	cr_assert(ptc_elf_layout_address(l, LE_CODE_OFF, &got));
	cr_assert_eq(got, addr + LE_CODE_OFF);
	cr_assert_eq(ptc_elf_layout_code_base(l), addr + LE_CODE_OFF);
	cr_assert_eq(ptc_elf_layout_file_base(l), addr);
	cr_assert(!ptc_elf_layout_address(l, b.len, &got));
	cr_assert(!ptc_elf_layout_is_plt(l, addr + LE_CODE_OFF));
	ptc_elf_layout_free(l);
	ptc_buf_release(&b);
}

Test(elf_layout, cut_at_every_length_is_read_or_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_elf_layout *l;
	struct ptc_err err;
	size_t read = 0, len;
	uint64_t got;

	le_program(&b, addr, 1, code, sizeof(code));
	for (len = 0; len <= b.len; len++) {
		if (ptc_elf_layout_read(file_of(b.bytes, len), "x", &l, &err)) {
			cr_assert_eq(err.code, PTC_E_FORMAT);
			continue;
		}
		read++;
		(void)ptc_elf_layout_address(l, LE_CODE_OFF, &got);
		ptc_elf_layout_free(l);
	}
	cr_assert(read >= 1 && read < b.len);
	ptc_buf_release(&b);
}

Test(elf_layout, any_byte_of_the_headers_may_be_wrong)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_elf_layout *l;
	struct ptc_err err;
	uint64_t got;
	size_t i;

	le_program(&b, addr, 1, code, sizeof(code));
	for (i = 0; i < 64 + 3 * 56; i++) {
		b.bytes[i] ^= 0xff;
		if (!ptc_elf_layout_read(file_of(b.bytes, b.len), "x", &l, &err)) {
			(void)ptc_elf_layout_address(l, LE_CODE_OFF, &got);
			(void)ptc_elf_layout_is_plt(l, addr);
			ptc_elf_layout_free(l);
		}
		b.bytes[i] ^= 0xff;
	}
	ptc_buf_release(&b);
}
