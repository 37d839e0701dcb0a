/* SPDX-License-Identifier: MIT */
#include "lib_gopcln.h"

#include <stdbool.h>
#include <string.h>

enum { FUNCS = 3 };

struct span {
	int32_t value;
	uint32_t len; /* 0: the end */
};

/* Offsets within the areas. */
struct areas {
	uint32_t names[FUNCS], files[FUNCS], lines[FUNCS];
	uint32_t file_names[2];
};

static const char *const func_names[FUNCS] = { "main.main", "main.leaf", "main.bare" };
static const uint32_t starts[FUNCS + 1] = { GP_MAIN, GP_LEAF, GP_BARE, GP_END };
static const char *const file_names[2] = { "/src/a.go", "/src/b.go" };

static void put_varint(struct ptc_buf *b, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		ptc_buf_u8(b, (uint8_t)(v | 0x80));
	ptc_buf_u8(b, (uint8_t)v);
}

/* Puts the changes of a value, starting at -1, each with its length. */
static uint32_t put_values(struct ptc_buf *b, const struct span *s)
{
	const uint32_t at = (uint32_t)b->len;
	int32_t was = -1;

	for (; s->len; was = s++->value) {
		const uint32_t change = (uint32_t)s->value - (uint32_t)was;

		put_varint(b, change << 1 ^ (s->value < was ? UINT32_MAX : 0));
		put_varint(b, s->len);
	}
	ptc_buf_u8(b, 0);
	return at;
}

static uint32_t put_name(struct ptc_buf *b, const char *name)
{
	const uint32_t at = (uint32_t)b->len;

	ptc_buf_put(b, name, strlen(name) + 1);
	return at;
}

/* @first: the number of a.go. */
static void put_all_values(struct ptc_buf *b, int32_t first, struct areas *a)
{
	const struct span main_files[] = { { first, 16 },
					   { first + 1, 8 },
					   { first, 8 },
					   { 0, 0 } },
			  main_lines[] = { { 10, 8 }, { 11, 8 }, { 3, 8 }, { 12, 8 }, { 0, 0 } },
			  leaf_files[] = { { first, 16 }, { 0, 0 } },
			  leaf_lines[] = { { 20, 12 }, { 0, 0 } };

	ptc_buf_u8(b, 0); /* offset 0 means "none" */
	a->files[0] = put_values(b, main_files);
	a->lines[0] = put_values(b, main_lines);
	a->files[1] = put_values(b, leaf_files);
	a->lines[1] = put_values(b, leaf_lines);
	a->files[2] = a->lines[2] = 0;
}

static void put_word(struct ptc_buf *b, uint64_t v, bool narrow)
{
	if (narrow)
		ptc_buf_le32(b, (uint32_t)v);
	else
		ptc_buf_le64(b, v);
}

/* Puts the functab; the _func entries start at @funcs. */
static void put_functab(struct ptc_buf *b, uint64_t text, uint64_t funcs, uint64_t size,
			bool narrow)
{
	size_t i;

	for (i = 0; i < FUNCS; i++) {
		put_word(b, text + starts[i], narrow);
		put_word(b, funcs + i * size, narrow);
	}
	put_word(b, text + starts[FUNCS], narrow);
}

static void put_func(struct ptc_buf *b, const struct areas *a, size_t i, uint64_t text, bool narrow)
{
	put_word(b, text + starts[i], narrow);
	ptc_buf_le32(b, a->names[i]);
	ptc_buf_le32(b, 0); /* arguments */
	ptc_buf_le32(b, 0); /* deferred return */
	ptc_buf_le32(b, 0); /* stack */
	ptc_buf_le32(b, a->files[i]);
	ptc_buf_le32(b, a->lines[i]);
	ptc_buf_le32(b, 0); /* tables */
	ptc_buf_le32(b, 1); /* unit: its files are files 2 and 3 of all */
}

static void put_magic(struct ptc_buf *b, enum gp_magic magic)
{
	ptc_buf_le32(b, 0xffffff00 | magic);
	ptc_buf_le16(b, 0);
	ptc_buf_u8(b, 1);
	ptc_buf_u8(b, 8);
}

/* The old format: every offset counts from the start of the table. */
static void put_old(struct ptc_buf *b)
{
	enum { FUNC = 40, TABLE = 16 + 8 * (2 * FUNCS + 1) };
	const uint32_t funcs = TABLE + 4, files = funcs + FUNCS * FUNC;
	struct ptc_buf rest = PTC_BUF_INIT;
	struct areas a;
	size_t i;

	ptc_buf_zero(&rest, files + 3 * sizeof(uint32_t));
	for (i = 0; i < FUNCS; i++)
		a.names[i] = put_name(&rest, func_names[i]);
	for (i = 0; i < 2; i++)
		a.file_names[i] = put_name(&rest, file_names[i]);
	put_all_values(&rest, 1, &a);

	put_magic(b, GP_1_2);
	ptc_buf_le64(b, FUNCS);
	put_functab(b, GP_TEXT, funcs, FUNC, false);
	ptc_buf_le32(b, files);
	for (i = 0; i < FUNCS; i++)
		put_func(b, &a, i, GP_TEXT, false);
	ptc_buf_le32(b, 3); /* count, with this entry */
	ptc_buf_le32(b, a.file_names[0]);
	ptc_buf_le32(b, a.file_names[1]);
	ptc_buf_put(b, rest.bytes + b->len, rest.len - b->len);
	ptc_buf_release(&rest);
}

/* The new format: each area has its own offsets. */
static void put_new(struct ptc_buf *b, enum gp_magic magic)
{
	const bool narrow = magic == GP_1_18 || magic == GP_1_20;
	const uint64_t text = narrow ? 0 : GP_TEXT, word = narrow ? 4 : 8;
	enum { NAMES, UNITS, FILES, VALUES, AREAS };
	struct ptc_buf areas[AREAS] = { PTC_BUF_INIT, PTC_BUF_INIT, PTC_BUF_INIT, PTC_BUF_INIT };
	uint64_t at = narrow ? 72 : 64;
	struct areas a;
	size_t i;

	for (i = 0; i < FUNCS; i++)
		a.names[i] = put_name(&areas[NAMES], func_names[i]);
	for (i = 0; i < 2; i++)
		a.file_names[i] = put_name(&areas[FILES], file_names[i]);
	ptc_buf_le32(&areas[UNITS], UINT32_MAX); /* a file without remaining code */
	ptc_buf_le32(&areas[UNITS], a.file_names[0]);
	ptc_buf_le32(&areas[UNITS], a.file_names[1]);
	put_all_values(&areas[VALUES], 0, &a);

	put_magic(b, magic);
	ptc_buf_le64(b, FUNCS);
	ptc_buf_le64(b, 2);
	if (narrow)
		ptc_buf_le64(b, GP_TEXT);
	for (i = 0; i < AREAS; at += areas[i++].len)
		ptc_buf_le64(b, at);
	ptc_buf_le64(b, at);
	for (i = 0; i < AREAS; i++) {
		ptc_buf_put(b, areas[i].bytes, areas[i].len);
		ptc_buf_release(&areas[i]);
	}
	put_functab(b, text, (2 * FUNCS + 1) * word, 32 + word, narrow);
	for (i = 0; i < FUNCS; i++)
		put_func(b, &a, i, text, narrow);
}

void gp_table(struct ptc_buf *b, enum gp_magic magic)
{
	if (magic == GP_1_2)
		put_old(b);
	else
		put_new(b, magic);
}
