/* SPDX-License-Identifier: MIT */
/* Description: cores: complete, truncated anywhere, and with wrong headers. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "decode/image/codefile.h"
#include "decode/image/core.h"
#include "lib_elf.h"

enum { NOTE_AT = 64 + 3 * 56 };

static const char one[] = "first segment", two[] = "second segment";

static void make(struct ptc_buf *b)
{
	const struct le_segment segs[] = { { 0x402000, two, sizeof(two) },
					   { 0x400000, one, 0x1000 } };
	const struct le_mapped maps[] = { { 0x402000, 0x403000, 2, "/usr/bin/it" },
					  { 0x400000, 0x401000, 0, "/usr/bin/it" } };
	char page[0x1000] = { 0 };
	struct le_segment s[2] = { segs[0], segs[1] };

	memcpy(page, one, sizeof(one));
	s[1].bytes = page;
	le_core(b, 77, s, 2, maps, 2);
}

static uint64_t code(struct ptc_core *c, struct ptc_codefiles *files, uint64_t addr, uint64_t len,
		     const char **ret)
{
	struct ptc_codefile *f;
	uint64_t off, n = ptc_core_code(c, files, "it", addr, len, &f, &off);

	if (n)
		*ret = (const char *)f->bytes + off;
	return n;
}

Test(core, segments_and_files_by_address)
{
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	const struct ptc_core_map *m;
	struct ptc_core *c;
	const char *bytes;
	struct ptc_err err;
	char dir[64];

	le_folder(dir, sizeof(dir));
	make(&b);
	cr_assert_eq(ptc_core_open(le_write(dir, "core", &b), &(struct ptc_untrusted){ .root = 0 },
				   &c, &err),
		     0, "%s", err.msg);
	cr_assert_eq(c->pid, 77);
	cr_assert_eq(code(c, &files, 0x400000, 0x800, &bytes), 0x1000);
	cr_assert_str_eq(bytes, one);
	cr_assert_eq(code(c, &files, 0x402000, 0x9000, &bytes), 0x1000);
	cr_assert_str_eq(bytes, two);
	cr_assert_eq(code(c, &files, 0x401000, 1, &bytes), 0);
	cr_assert_eq(code(c, &files, 0x3ff000, 1, &bytes), 0);
	cr_assert_eq(code(c, &files, 0x403000, 1, &bytes), 0);
	cr_assert_eq(ptc_core_next(c, 0x400000), 0x402000);
	cr_assert_eq(ptc_core_next(c, 0x402000), UINT64_MAX);
	m = ptc_core_map_at(c, 0x402fff);
	cr_assert_eq(m->off, 0x2000);
	cr_assert_str_eq(m->name, "/usr/bin/it");
	cr_assert_null(ptc_core_map_at(c, 0x401000));
	cr_assert_null(ptc_core_map_at(c, 0));
	ptc_core_free(c);
	ptc_core_free(NULL);
	ptc_codefiles_release(&files);
	ptc_buf_release(&b);
	le_folder_remove(dir);
}

/* Opens the core and reads everything, with any bytes. */
static void try_core(const char *dir, const struct ptc_buf *b)
{
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_build_id id;
	struct ptc_core *c;
	const char *bytes = NULL; /* gcc 14 warns, but bytes is always set */
	struct ptc_err err;
	uint64_t n;
	size_t i;

	if (ptc_core_open(le_write(dir, "core", b), &(struct ptc_untrusted){ .root = 0 }, &c,
			  &err)) {
		cr_assert_neq(err.msg[0], '\0');
		return;
	}
	for (i = 0; i < c->nloads; i++) {
		n = code(c, &files, c->loads[i].addr, UINT64_MAX, &bytes);
		cr_assert_leq(n, b->len);
		if (n)
			(void)*(volatile const char *)(bytes + n - 1);
	}
	for (i = 0; i < c->nmaps; i++) {
		cr_assert_lt(strlen(c->maps[i].name), b->len);
		(void)ptc_core_build_id(c, &c->maps[i], &id);
	}
	ptc_core_free(c);
	ptc_codefiles_release(&files);
}

Test(core, cut_anywhere_it_is_read_as_far_as_it_goes)
{
	struct ptc_buf b = PTC_BUF_INIT, cut;
	char dir[64];

	le_folder(dir, sizeof(dir));
	make(&b);
	cut = b;
	for (cut.len = 1; cut.len < b.len; cut.len += cut.len < 0x400 ? 1 : 509)
		try_core(dir, &cut);
	ptc_buf_release(&b);
	le_folder_remove(dir);
}

Test(core, numbers_that_lie_do_no_harm)
{
	static const uint64_t lies[] = { 0, 1, 0xfff, UINT32_MAX, INT64_MAX, UINT64_MAX };
	struct ptc_buf b = PTC_BUF_INIT;
	uint8_t saved[8];
	char dir[64];
	size_t off, i;

	le_folder(dir, sizeof(dir));
	make(&b);
	/* Each number in the segment headers and in the notes. */
	for (off = 24; off < NOTE_AT + 0x140; off += 4) {
		memcpy(saved, b.bytes + off, 8);
		for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			memcpy(b.bytes + off, &lies[i], 8);
			try_core(dir, &b);
		}
		memcpy(b.bytes + off, saved, 8);
	}
	ptc_buf_release(&b);
	le_folder_remove(dir);
}
