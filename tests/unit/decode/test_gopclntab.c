/* SPDX-License-Identifier: MIT */
/*
 * Description: Go's table of functions and lines, in each version; truncated anywhere; with wrong
 * bytes.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/symbols/gopclntab.h"
#include "fewer.h"
#include "lib_gopcln.h"

static const enum gp_magic magics[] = { GP_1_2, GP_1_16, GP_1_18, GP_1_20 };

enum { VERSIONS = sizeof(magics) / sizeof(*magics) };

/* Opens the first @len bytes, followed by a 0 at the end of the allocation. NULL: refused. */
static struct ptc_gopclntab *open_bytes(const struct ptc_buf *b, size_t len)
{
	uint8_t *bytes = malloc(len + 1);
	struct ptc_gopclntab *t;

	cr_assert_not_null(bytes);
	memcpy(bytes, b->bytes, len);
	bytes[len] = 0;
	t = ptc_gopclntab_new(bytes, len);
	if (!t)
		free(bytes);
	return t;
}

static struct ptc_gopclntab *open_version(enum gp_magic magic)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_gopclntab *t;

	gp_table(&b, magic);
	t = open_bytes(&b, b.len);
	cr_assert_not_null(t, "magic %x", magic);
	ptc_buf_release(&b);
	return t;
}

static int count(void *ctx, const char *file, int line)
{
	int *n = ctx;

	cr_assert(*file && line > 0);
	cr_assert_leq(++*n, GP_END); /* not more than bytes of code */
	return 0;
}

static int lines_of(const struct ptc_gopclntab *t)
{
	int n = 0;

	cr_assert_eq(ptc_gopclntab_each(t, count, &n), 0);
	return n;
}

static void is_line(struct ptc_gopclntab *t, uint64_t at, const char *want, int want_line)
{
	int line = 0;
	const char *file = ptc_gopclntab_line(t, at, &line);

	if (!want) {
		cr_assert_null(file, "%x: %s", (int)at, file);
		return;
	}
	cr_assert_not_null(file, "%x", (int)at);
	cr_assert_str_eq(file, want);
	cr_assert_eq(line, want_line, "%x: %d", (int)at, line);
}

Test(gopclntab, each_version_has_names_and_bounds)
{
	static const char *const names[] = { "main.main", "main.leaf", "main.bare" };
	static const uint64_t starts[] = { GP_MAIN, GP_LEAF, GP_BARE },
			      ends[] = { GP_LEAF, GP_BARE - 4, GP_END };
	struct ptc_gopclntab *t;
	struct ptc_go_func f;
	uint64_t start, end;
	size_t i, j;

	for (i = 0; i < VERSIONS; i++) {
		t = open_version(magics[i]);
		cr_assert_eq(t->n, 3);
		for (j = 0; j < t->n; j++) {
			cr_assert(ptc_gopclntab_func(t, j, &f));
			cr_assert_eq(f.addr, GP_TEXT + starts[j]);
			cr_assert_eq(f.size, ends[j] - starts[j]);
			cr_assert_str_eq((const char *)t->names.pos + f.name, names[j]);
		}
		ptc_gopclntab_range(t, &start, &end);
		cr_assert_eq(start, GP_TEXT + GP_MAIN);
		cr_assert_eq(end, GP_TEXT + GP_END);
		ptc_gopclntab_free(t);
	}
}

Test(gopclntab, each_version_has_lines_of_the_innermost_function)
{
	struct ptc_gopclntab *t;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		t = open_version(magics[i]);
		is_line(t, GP_TEXT + GP_MAIN - 1, NULL, 0);
		is_line(t, GP_TEXT + GP_MAIN, "/src/a.go", 10);
		is_line(t, GP_TEXT + GP_MAIN + 7, "/src/a.go", 10);
		is_line(t, GP_TEXT + GP_MAIN + 8, "/src/a.go", 11);
		is_line(t, GP_TEXT + GP_MAIN + 16, "/src/b.go", 3);
		is_line(t, GP_TEXT + GP_MAIN + 31, "/src/a.go", 12);
		is_line(t, GP_TEXT + GP_LEAF, "/src/a.go", 20);
		is_line(t, GP_TEXT + GP_LEAF + 11, "/src/a.go", 20);
		is_line(t, GP_TEXT + GP_LEAF + 12, NULL, 0); /* between functions */
		is_line(t, GP_TEXT + GP_BARE, NULL, 0);
		is_line(t, GP_TEXT + GP_END, NULL, 0);
		is_line(t, 0, NULL, 0);
		is_line(t, UINT64_MAX, NULL, 0);
		cr_assert_eq(lines_of(t), 5);
		ptc_gopclntab_free(t);
	}
}

/* Makes all possible queries. The sanitizers see reads past the end. */
static void ask_all(struct ptc_gopclntab *t)
{
	const size_t names = ptc_cur_left(&t->names);
	struct ptc_go_func f;
	const char *file;
	uint64_t at;
	size_t i;
	int line;

	for (i = 0; i < t->n; i++)
		if (ptc_gopclntab_func(t, i, &f))
			cr_assert_lt(f.name, names);
	for (at = 0; at <= GP_END; at++) {
		file = ptc_gopclntab_line(t, t->text + at, &line);
		cr_assert(!file || (strlen(file) && line > 0));
		if (t->text != GP_TEXT)
			(void)ptc_gopclntab_line(t, GP_TEXT + at, &line);
	}
}

Test(gopclntab, cut_anywhere_it_is_read_without_harm)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_gopclntab *t;
	size_t i, len, read;

	for (i = 0; i < VERSIONS; i++) {
		ptc_buf_reset(&b);
		gp_table(&b, magics[i]);
		for (read = len = 0; len < b.len; len++) {
			t = open_bytes(&b, len);
			if (!t)
				continue;
			read++;
			ask_all(t);
			cr_assert_leq(lines_of(t), 5);
			ptc_gopclntab_free(t);
		}
		/* Without the last functions, or the bytes behind them, there is no table. */
		cr_assert_lt(read, b.len / 2, "%zu of %zu", read, b.len);
	}
	ptc_buf_release(&b);
}

Test(gopclntab, any_byte_may_lie)
{
	static const uint8_t lies[] = {
		0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x7f, 0xff
	};
	enum { STEP = FEWER(1, 3) };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_gopclntab *t;
	size_t i, j, k;
	uint64_t start, end;
	int n;

	for (i = 0; i < VERSIONS; i++) {
		ptc_buf_reset(&b);
		gp_table(&b, magics[i]);
		/* Under a sanitizer each version begins at another byte. */
		for (j = i % STEP; j < b.len; j += STEP)
			for (k = 0; k < sizeof(lies); k++) {
				b.bytes[j] ^= lies[k];
				t = open_bytes(&b, b.len);
				b.bytes[j] ^= lies[k];
				if (!t)
					continue;
				ask_all(t);
				ptc_gopclntab_range(t, &start, &end);
				n = 0;
				if (end - start <= GP_END)
					(void)ptc_gopclntab_each(t, count, &n);
				ptc_gopclntab_free(t);
			}
	}
	ptc_buf_release(&b);
}

Test(gopclntab, other_versions_and_machines_are_refused)
{
	static const size_t at[] = { 0, 3, 4, 5, 6, 7 };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	gp_table(&b, GP_1_20);
	for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
		b.bytes[at[i]] ^= 2;
		cr_assert_null(open_bytes(&b, b.len), "byte %zu", at[i]);
		b.bytes[at[i]] ^= 2;
	}
	ptc_buf_release(&b);
	ptc_gopclntab_free(NULL);
}

Test(gopclntab, functions_that_do_not_ascend_are_refused)
{
	enum { FUNCTAB_OLD = 16 };
	struct ptc_buf b = PTC_BUF_INIT;

	gp_table(&b, GP_1_2);
	ptc_buf_set_le64(&b, FUNCTAB_OLD, GP_TEXT + GP_LEAF + 1);
	cr_assert_null(open_bytes(&b, b.len));
	ptc_buf_release(&b);
}
