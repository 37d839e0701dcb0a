/* SPDX-License-Identifier: MIT */
/* Description: addresses in this program become functions. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "decode/elf/symtab.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/image/own_vdso.h"
#include "decode/symbols/srcline.h"
#include "decode/symbols/symbol.h"

int ptc_test_symbol_marker(int x);

__attribute__((noinline)) int ptc_test_symbol_marker(int x)
{
	return x * 3 + 1;
}

/* Converts an address in this program to an offset in its file, by its own page of /proc. */
static uint64_t file_offset(const void *p, uint64_t *ret_start)
{
	struct ptc_buf maps = PTC_BUF_INIT;
	const uint64_t at = (uint64_t)p;
	uint64_t start = 0, end, off = 0;
	struct ptc_err err;
	char *line;

	cr_assert_eq(ptc_read_file("/proc/self/maps", 1 << 20, &maps, &err), 0);
	for (line = (char *)maps.bytes; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!*line)
			break;
		start = strtoull(line, &line, 16);
		end = strtoull(line + 1, &line, 16);
		off = strtoull(line + 6, &line, 16);
		if (at >= start && at < end)
			break;
	}
	ptc_buf_release(&maps);
	*ret_start = start;
	return off + (at - start);
}

Test(symbol, the_function_that_holds_an_address)
{
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_addrspace as = { .version = 0 };
	struct ptc_codefile *self;
	uint64_t start, off, got;
	const char *name;
	struct ptc_err err;

	/*
	 * ISO C has no conversion from a function pointer to an object pointer, hence the integer.
	 */
	off = file_offset((const void *)(uintptr_t)ptc_test_symbol_marker, &start);
	cr_assert_eq(ptc_codefiles_open(&files, "/proc/self/exe", &self, &err), 0, "%s", err.msg);
	cr_assert(ptc_addrspace_map(&as, 0x10000, self->len, 0, self));
	name = ptc_symbol_at(&as, 0x10000 + off, &got);
	cr_assert_str_eq(name, "ptc_test_symbol_marker");
	cr_assert_eq(got, 0);
	name = ptc_symbol_at(&as, 0x10000 + off + 3, &got);
	cr_assert_str_eq(name, "ptc_test_symbol_marker");
	cr_assert_eq(got, 3);
	cr_assert_null(ptc_symbol_at(&as, 0x10000, &got)); /* the ELF header */
	cr_assert_null(ptc_symbol_at(&as, 0x1000, &got));
	cr_assert_eq(ptc_test_symbol_marker(1), 4);
	ptc_addrspace_release(&as);
	ptc_codefiles_release(&files);
}

/* Copies this program to @path, with a new inode. */
static void copy_self(const char *path)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	FILE *f = fopen(path, "wx");

	cr_assert_not_null(f);
	cr_assert_eq(ptc_read_file("/proc/self/exe", 1 << 30, &b, &err), 0, "%s", err.msg);
	cr_assert_eq(fwrite(b.bytes, 1, b.len, f), b.len);
	cr_assert_eq(fclose(f), 0);
	ptc_buf_release(&b);
}

/* Looks up lines of a file that is replaced before the first look-up. *@ret_line 0: none. */
static void find_line(bool replaced, int *ret_line)
{
	struct ptc_srclines lines = PTC_SRCLINES_INIT;
	struct ptc_codefiles files = { .n = 0 };
	char dir[] = "/tmp/ptcap-line-XXXXXX", path[64], other[64];
	struct ptc_codefile *f;
	struct ptc_err err;
	uint64_t start;
	const uint64_t off = file_offset((const void *)(uintptr_t)ptc_test_symbol_marker, &start);

	cr_assert_not_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/a", dir);
	(void)snprintf(other, sizeof(other), "%s/b", dir);
	copy_self(path);
	cr_assert_eq(ptc_codefiles_open(&files, path, &f, &err), 0, "%s", err.msg);
	if (replaced) {
		copy_self(other);
		cr_assert_eq(rename(other, path), 0);
	}
	*ret_line = 0;
	if (!ptc_srcline_find(&lines, f, off, ret_line))
		*ret_line = 0;
	ptc_srclines_release(&lines);
	ptc_codefiles_release(&files);
	cr_assert_eq(remove(path), 0);
	cr_assert_eq(remove(dir), 0);
}

Test(symbol, a_file_that_was_replaced_has_no_lines)
{
	int line;

	find_line(false, &line);
	if (!line)
		cr_skip_test("this build has no debug information");
	find_line(true, &line);
	cr_assert_eq(line, 0);
}

Test(symbol, the_vdso_has_functions_too)
{
	size_t len;
	const uint8_t *vdso = ptc_vdso_self(&len);
	struct ptc_symtab *t;
	uint64_t off;
	size_t i;

	if (!vdso)
		cr_skip_test("this kernel gives no vdso");
	t = ptc_symtab_new(vdso, len);
	cr_assert_not_null(t);
	for (i = 0; i < len; i++) {
		const char *name = ptc_symtab_find(t, i, &off);

		if (name && strstr(name, "clock_gettime"))
			break;
	}
	cr_assert_lt(i, len);
	ptc_symtab_free(t);
}

Test(symbol, an_image_cut_anywhere_is_read_without_harm)
{
	struct ptc_symtab *t;
	const uint8_t *vdso;
	uint64_t off;
	uint8_t *cut;
	size_t len, n;

	vdso = ptc_vdso_self(&len);
	if (!vdso)
		cr_skip_test("this kernel gives no vdso");
	for (n = 0; n <= len; n += n < 0x400 ? 1 : 61) {
		cut = malloc(n ? n : 1);
		cr_assert_not_null(cut);
		memcpy(cut, vdso, n);
		t = ptc_symtab_new(cut, n);
		if (t)
			(void)ptc_symtab_find(t, len / 2, &off);
		ptc_symtab_free(t);
		free(cut);
	}
	ptc_symtab_free(NULL);
}
