/* SPDX-License-Identifier: MIT */
#include "decode/symbols/gopclntab.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

enum {
	MAGIC_BYTES = 8, /* with the sizes of an instruction and of a pointer */
	WORD = 8,
	FIELD = 4,
	FILE_MAX = 4096,
	ROWS_MAX = 1 << 24, /* rows that are kept: 200 MB */
};

static const uint32_t GO_1_2 = 0xfffffffb, GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0,
		      GO_1_20 = 0xfffffff1;

/* A function, as in the table. */
struct func {
	uint64_t start, size;
	uint32_t name, files, lines, unit;
};

/* Valid from `at`, an offset in the function, up to that of the next row. */
struct row {
	uint32_t at;
	int32_t file, line;
};

struct rows {
	struct row *rows; /* owned */
	size_t n, cap;
};

struct ptc_go_lines {
	struct row *rows; /* owned */
	size_t n;
	bool tried;
};

/* A value that changes along the code of a function. */
struct value {
	struct ptc_cur steps;
	uint64_t end; /* offset from the function's start up to which `is` is valid */
	int32_t is;
	bool first;
};

bool ptc_gopclntab_begins(const uint8_t *bytes, size_t len)
{
	const uint32_t magic = len >= MAGIC_BYTES ? ptc_le32(bytes) : 0;

	return (magic == GO_1_2 || magic == GO_1_16 || magic == GO_1_18 || magic == GO_1_20) &&
	       !bytes[4] && !bytes[5] && bytes[6] == 1 && bytes[7] == WORD;
}

bool ptc_gopclntab_is_relative(const struct ptc_gopclntab *t)
{
	return t->magic == GO_1_18 || t->magic == GO_1_20;
}

/* Returns the size of an address, and of an offset, in the list of functions. */
static size_t entry_size(const struct ptc_gopclntab *t)
{
	return ptc_gopclntab_is_relative(t) ? FIELD : WORD;
}

/* Set *@ret to @c from @off on. Returns false if there is no such place. */
static bool from(struct ptc_cur c, uint64_t off, struct ptc_cur *ret)
{
	if (off > ptc_cur_left(&c) || !ptc_cur_skip(&c, (size_t)off))
		return false;
	*ret = c;
	return true;
}

static bool le32_at(struct ptc_cur c, uint64_t off, uint32_t *ret)
{
	return from(c, off, &c) && ptc_cur_le32(&c, ret);
}

/* Go 1.2: everything is in one area. The offset of the list of files is behind the functions. */
static bool read_old_header(struct ptc_gopclntab *t, struct ptc_cur all, struct ptc_cur c)
{
	uint64_t n;
	uint32_t files;

	if (!ptc_cur_le64(&c, &n) || n > ptc_cur_left(&c) / (2 * sizeof(uint64_t)))
		return false;
	t->n = (size_t)n;
	t->functab = c;
	t->funcs = t->names = t->values = all;
	return le32_at(c, n * 2 * WORD + WORD, &files) && from(all, files, &t->files);
}

static bool read_header(struct ptc_gopclntab *t)
{
	struct ptc_cur all = ptc_cur_init(t->bytes, t->len), c = all;
	enum { AREAS = 5 };
	struct ptc_cur *const areas[AREAS] = { &t->names, &t->units, &t->files, &t->values,
					       &t->funcs };
	uint64_t n, nfiles, off;
	size_t i;

	if (!ptc_cur_skip(&c, MAGIC_BYTES))
		return false;
	if (t->magic == GO_1_2)
		return read_old_header(t, all, c);
	if (!ptc_cur_le64(&c, &n) || !ptc_cur_le64(&c, &nfiles) ||
	    (ptc_gopclntab_is_relative(t) && !ptc_cur_le64(&c, &t->text)))
		return false;
	for (i = 0; i < AREAS; i++)
		if (!ptc_cur_le64(&c, &off) || !from(all, off, areas[i]))
			return false;
	t->functab = t->funcs;
	t->n = n < ptc_cur_left(&t->functab) ? (size_t)n : SIZE_MAX;
	return t->n <= ptc_cur_left(&t->functab) / (2 * entry_size(t));
}

/*
 * Returns where function @i begins, without t->text. For number t->n: where the last one ends.
 * ptc_gopclntab_new has checked that the bytes contain these.
 */
static uint64_t start_of(const struct ptc_gopclntab *t, size_t i)
{
	const uint8_t *at = t->functab.pos + 2 * i * entry_size(t);

	return ptc_gopclntab_is_relative(t) ? ptc_le32(at) : ptc_le64(at);
}

static bool is_ascending(const struct ptc_gopclntab *t)
{
	size_t i;

	if (ptc_cur_left(&t->functab) < (2 * t->n + 1) * entry_size(t))
		return false;
	for (i = 0; i < t->n; i++)
		if (start_of(t, i) > start_of(t, i + 1))
			return false;
	return t->n;
}

struct ptc_gopclntab *ptc_gopclntab_new(uint8_t *bytes, size_t len)
{
	struct ptc_gopclntab *t = ptc_gopclntab_begins(bytes, len) ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->bytes = bytes;
	t->len = len;
	t->magic = ptc_le32(bytes);
	if (read_header(t) && is_ascending(t))
		return t;
	free(t);
	return NULL;
}

void ptc_gopclntab_free(struct ptc_gopclntab *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; t->lines && i < t->n; i++)
		free(t->lines[i].rows);
	free(t->lines);
	free(t->bytes);
	free(t);
}

void ptc_gopclntab_range(const struct ptc_gopclntab *t, uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = t->text + start_of(t, 0);
	*ret_end = t->text + start_of(t, t->n);
}

/*
 * _func: the start of the function (again), then fields of 4 bytes: name, arguments, deferred
 * return, stack, files, lines, number of tables, unit.
 */
static bool read_func(const struct ptc_gopclntab *t, size_t i, struct func *ret)
{
	const size_t size = entry_size(t);
	const uint8_t *at = t->functab.pos + (2 * i + 1) * size;
	const uint64_t off = size == FIELD ? ptc_le32(at) : ptc_le64(at);
	uint64_t start;
	uint32_t start32 = 0;
	struct ptc_cur c;

	if (!from(t->funcs, off, &c) ||
	    !(size == FIELD ? ptc_cur_le32(&c, &start32) : ptc_cur_le64(&c, &start)))
		return false;
	if ((size == FIELD ? start32 : start) != start_of(t, i))
		return false;
	*ret = (struct func){ .start = start_of(t, i),
			      .size = start_of(t, i + 1) - start_of(t, i) };
	return ret->size <= UINT32_MAX && le32_at(c, 0, &ret->name) &&
	       le32_at(c, 4 * (uint64_t)FIELD, &ret->files) &&
	       le32_at(c, 5 * (uint64_t)FIELD, &ret->lines) &&
	       (t->magic == GO_1_2 || le32_at(c, 7 * (uint64_t)FIELD, &ret->unit));
}

/* The string ends, at the latest behind the table. */
static const char *string_at(struct ptc_cur c, uint64_t off)
{
	return from(c, off, &c) && ptc_cur_left(&c) && *c.pos ? (const char *)c.pos : NULL;
}

/* A longer string is no path, and would be read for each line. */
static const char *path_at(struct ptc_cur c, uint64_t off)
{
	const char *s = string_at(c, off);

	return s && strnlen(s, FILE_MAX) < FILE_MAX ? s : NULL;
}

static bool varint(struct ptc_cur *c, uint32_t *ret)
{
	unsigned int shift;
	uint32_t v = 0;
	uint8_t byte;

	for (shift = 0; shift < 35; shift += 7) {
		if (!ptc_cur_u8(c, &byte))
			return false;
		v |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/*
 * Go to the next value: a change (0: no more values), and the number of code bytes. Returns false
 * at the end, or if damaged: a step without code bytes is damaged.
 */
static bool next_pc_value(struct value *v)
{
	uint32_t change, len;

	if (!varint(&v->steps, &change) || (!change && !v->first) || !varint(&v->steps, &len) ||
	    !len)
		return false;
	change = change & 1 ? ~(change >> 1) : change >> 1;
	v->is = (int32_t)((uint32_t)v->is + change);
	v->end += len;
	v->first = false;
	return true;
}

static bool begin_pc_values(const struct ptc_gopclntab *t, uint32_t off, struct value *ret)
{
	*ret = (struct value){ .is = -1, .first = true };
	return off && from(t->values, off, &ret->steps);
}

/*
 * Returns the size of the code alone. Bytes that align the next function may follow it. The lines
 * end with the code.
 */
static uint64_t code_size(const struct ptc_gopclntab *t, const struct func *f)
{
	struct value line;

	if (!begin_pc_values(t, f->lines, &line))
		return f->size;
	while (line.end < f->size && next_pc_value(&line))
		;
	return line.end && line.end < f->size ? line.end : f->size;
}

bool ptc_gopclntab_func(const struct ptc_gopclntab *t, size_t i, struct ptc_go_func *ret)
{
	struct func f;

	if (!read_func(t, i, &f) || !string_at(t->names, f.name))
		return false;
	*ret = (struct ptc_go_func){ t->text + f.start, code_size(t, &f), f.name };
	return true;
}

/* Returns the name of file number @nr of the function, or NULL. */
static const char *file_name(const struct ptc_gopclntab *t, uint32_t unit, int32_t nr)
{
	const struct ptc_cur all = ptc_cur_init(t->bytes, t->len);
	uint32_t n, off;

	if (nr < 0)
		return NULL;
	if (t->magic != GO_1_2)
		return le32_at(t->units, ((uint64_t)unit + (uint32_t)nr) * FIELD, &off) &&
				       off != UINT32_MAX ?
			       path_at(t->files, off) :
			       NULL;
	/* The list begins with its own number of entries, which counts as the first entry. */
	return le32_at(t->files, 0, &n) && nr && (uint32_t)nr < n &&
			       le32_at(t->files, (uint64_t)(uint32_t)nr * FIELD, &off) ?
		       path_at(all, off) :
		       NULL;
}

/*
 * Read the rows of a function, at most one per byte of code. Where a value ends, the lines end,
 * too. Returns false if out of memory.
 */
static bool read_rows(const struct ptc_gopclntab *t, const struct func *f, struct rows *out)
{
	struct value file, line;
	uint64_t at, end;

	out->n = 0;
	if (!begin_pc_values(t, f->files, &file) || !begin_pc_values(t, f->lines, &line))
		return true;
	for (at = 0; at < f->size; at = end) {
		struct row row = { .at = (uint32_t)at, .file = -1, .line = -1 };

		end = f->size;
		if ((file.end > at || next_pc_value(&file)) &&
		    (line.end > at || next_pc_value(&line))) {
			end = file.end < line.end ? file.end : line.end;
			row.file = file.is;
			row.line = line.is;
		}
		if (!ptc_grow(&out->rows, &out->cap, out->n + 1, sizeof(*out->rows)))
			return false;
		out->rows[out->n++] = row;
	}
	return true;
}

/* Returns the function that contains @off, or t->n. */
static size_t func_at(const struct ptc_gopclntab *t, uint64_t off)
{
	const size_t behind = PTC_PARTITION_POINT(i, 0, t->n, start_of(t, i) <= off);

	return behind && off < start_of(t, behind) ? behind - 1 : t->n;
}

/* Returns the lines of function @i, read once. NULL: there are none. */
static const struct ptc_go_lines *lines_of(struct ptc_gopclntab *t, size_t i, const struct func *f)
{
	struct rows rows = { .n = 0 };
	struct ptc_go_lines *l;

	if (!t->lines)
		t->lines = calloc(t->n, sizeof(*t->lines));
	if (!t->lines)
		return NULL;
	l = &t->lines[i];
	if (l->tried)
		return l;
	l->tried = true;
	if (t->rows < ROWS_MAX && read_rows(t, f, &rows)) {
		*l = (struct ptc_go_lines){ rows.rows, rows.n, true };
		t->rows += rows.n;
	} else {
		free(rows.rows);
	}
	return l;
}

const char *ptc_gopclntab_line(struct ptc_gopclntab *t, uint64_t addr, int *ret_line)
{
	const uint64_t off = addr - t->text;
	const size_t i = func_at(t, off);
	const struct ptc_go_lines *l;
	const char *file;
	size_t behind;
	struct func f;

	if (i == t->n || !read_func(t, i, &f) || !(l = lines_of(t, i, &f)))
		return NULL;
	behind = PTC_PARTITION_POINT(k, 0, l->n, l->rows[k].at <= off - f.start);
	if (!behind || l->rows[behind - 1].line <= 0)
		return NULL;
	file = file_name(t, f.unit, l->rows[behind - 1].file);
	if (file)
		*ret_line = l->rows[behind - 1].line;
	return file;
}

int ptc_gopclntab_each(const struct ptc_gopclntab *t,
		       int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	struct rows rows = { .n = 0 };
	const char *file;
	struct func f;
	size_t i, j;
	int r = 0;

	for (i = 0; !r && i < t->n; i++) {
		if (!read_func(t, i, &f))
			continue;
		if (!read_rows(t, &f, &rows))
			break;
		for (j = 0; !r && j < rows.n; j++) {
			file = rows.rows[j].line > 0 ? file_name(t, f.unit, rows.rows[j].file) :
						       NULL;
			if (file)
				r = on_line(ctx, file, rows.rows[j].line);
		}
	}
	free(rows.rows);
	return r;
}
