/* SPDX-License-Identifier: MIT */
#include "cli/arrow/flatbuffer.h"

#include <assert.h>
#include <string.h>

enum { REFERENCE = 4, TABLE_ALIGN = 8, VTABLE_HEAD = 4 };

static size_t padding(size_t at, size_t align)
{
	return (align - at % align) % align;
}

static void set_number(struct ptc_buf *b, size_t at, size_t size, uint64_t v)
{
	size_t i;

	if (ptc_buf_failed(b))
		return;
	for (i = 0; i < size; i++)
		b->bytes[at + i] = (uint8_t)(v >> 8 * i);
}

size_t ptc_flat_root(struct ptc_buf *b)
{
	const size_t at = b->len;

	ptc_buf_zero(b, REFERENCE);
	return at;
}

/* Chooses the places of fields in their table. Returns the length of the table. */
static size_t place_fields(struct ptc_flat_field *fields, size_t n)
{
	size_t len = REFERENCE, i; /* a table begins with the distance to its vtable */

	for (i = 0; i < n; i++) {
		if (!fields[i].size)
			continue;
		len += padding(len, fields[i].size);
		fields[i].at = len;
		len += fields[i].size;
	}
	return len;
}

size_t ptc_flat_table(struct ptc_buf *b, struct ptc_flat_field *fields, size_t n)
{
	const size_t vtable = VTABLE_HEAD + 2 * n, len = place_fields(fields, n);
	size_t table, i;

	ptc_buf_zero(b, padding(b->len + vtable, TABLE_ALIGN));
	ptc_buf_le16(b, (uint16_t)vtable);
	ptc_buf_le16(b, (uint16_t)len);
	for (i = 0; i < n; i++)
		ptc_buf_le16(b, fields[i].size ? (uint16_t)fields[i].at : 0);
	table = b->len;
	ptc_buf_zero(b, len);
	set_number(b, table, REFERENCE, vtable);
	for (i = 0; i < n; i++) {
		fields[i].at += table;
		set_number(b, fields[i].at, fields[i].size, fields[i].value);
	}
	return table;
}

size_t ptc_flat_vector(struct ptc_buf *b, size_t n, size_t align)
{
	size_t at;

	assert(n <= UINT32_MAX);
	ptc_buf_zero(b, padding(b->len, REFERENCE));
	ptc_buf_zero(b, padding(b->len + REFERENCE, align));
	at = b->len;
	ptc_buf_le32(b, (uint32_t)n);
	return at;
}

size_t ptc_flat_references(struct ptc_buf *b, size_t n)
{
	const size_t at = ptc_flat_vector(b, n, REFERENCE);

	ptc_buf_zero(b, n * REFERENCE);
	return at;
}

size_t ptc_flat_string(struct ptc_buf *b, const char *s)
{
	const size_t len = strlen(s), at = ptc_flat_vector(b, len, REFERENCE);

	ptc_buf_put(b, s, len + 1);
	return at;
}

void ptc_flat_refer(struct ptc_buf *b, size_t at, size_t part)
{
	set_number(b, at, REFERENCE, part - at);
}
