/* SPDX-License-Identifier: MIT */
#include "arch/python_lines.h"

#include "base/cursor.h"

enum {
	STEP = 64,  /* bytes that are read at once */
	SIZE = 16,  /* offset in a bytes object */
	BYTES = 32, /* same */
	TABLE_MAX = 64 << 10,
	LINES_MAX = 1 << 30,
	CHUNK = 6, /* bits of a number in each byte */
	CHUNKS_MAX = 6,
	/* kinds of entries: 0 to 9 are on the same line */
	ONE_LINE = 10,
	NO_COLUMNS = 13,
	LONG = 14,
	NO_LINE = 15,
};

/* Reads a table. */
struct reader {
	const struct ptc_memory_view *view;
	uint64_t at, left; /* of the table's rest that is not in bytes */
	size_t next, n;
	uint8_t bytes[STEP];
};

static bool peek(struct reader *r, uint8_t *ret)
{
	if (r->next == r->n) {
		r->n = r->left < STEP ? (size_t)r->left : STEP;
		r->next = 0;
		if (!r->n || !ptc_view_read(r->view, r->at, r->bytes, r->n)) {
			r->n = 0;
			return false;
		}
		r->at += r->n;
		r->left -= r->n;
	}
	*ret = r->bytes[r->next];
	return true;
}

/* Bit 7 is only set at the beginning of an entry. */
static bool is_beginning(uint8_t byte)
{
	return byte >> 7;
}

static bool read_signed(struct reader *r, int64_t *ret)
{
	uint64_t number = 0;
	uint8_t byte;
	size_t i;

	for (i = 0; i < CHUNKS_MAX; i++) {
		if (!peek(r, &byte) || is_beginning(byte))
			return false;
		r->next++;
		number |= (uint64_t)(byte & 0x3f) << (CHUNK * i);
		if (byte & 0x40)
			continue;
		*ret = number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
		return true;
	}
	return false;
}

/* Reads one entry. *@ret_units: its code units. *@line changes. *@ret_has: the code has a line. */
static bool read_entry(struct reader *r, int64_t *line, uint64_t *ret_units, bool *ret_has)
{
	int64_t delta = 0;
	unsigned int kind;
	uint8_t byte;

	if (!peek(r, &byte) || !is_beginning(byte))
		return false;
	r->next++;
	kind = byte >> 3 & 15;
	*ret_units = (byte & 7) + 1U;
	*ret_has = kind != NO_LINE;
	if (kind >= ONE_LINE && kind < NO_COLUMNS)
		delta = kind - ONE_LINE;
	else if ((kind == NO_COLUMNS || kind == LONG) && !read_signed(r, &delta))
		return false;
	*line += delta;
	while (peek(r, &byte) && !is_beginning(byte)) /* columns */
		r->next++;
	return *line >= 0 && *line < LINES_MAX; /* a module begins in line 0 */
}

uint32_t ptc_python_line(const struct ptc_memory_view *v, uint64_t table, uint32_t first,
			 uint64_t unit)
{
	struct reader r = { .view = v, .at = table + BYTES };
	uint64_t units, at = 0;
	int64_t line = first;
	bool has;

	if (!ptc_view_word(v, table + SIZE, &r.left))
		return 0;
	r.left = r.left < TABLE_MAX ? r.left : TABLE_MAX;
	while (read_entry(&r, &line, &units, &has)) {
		at += units;
		if (unit < at)
			return has ? (uint32_t)line : 0;
	}
	return 0;
}
