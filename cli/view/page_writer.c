/* SPDX-License-Identifier: MIT */
#include "cli/view/page_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/io.h"

static int write_text(struct ptc_page_writer *w, const void *bytes, size_t n, struct ptc_err *err)
{
	const int rc = ptc_write_all(w->fd, bytes, n, w->name, err);

	w->size += rc ? 0 : n;
	return rc;
}

/* Characters from '(' to '|', except '<', which could begin an element. */
static char digit_of(uint32_t v)
{
	return v == '<' - '(' ? '}' : (char)('(' + v);
}

/* Append @n bytes, 1 to 4, as @n + 1 characters. */
static void put_group(struct ptc_buf *b, const uint8_t *bytes, size_t n)
{
	uint8_t *text = ptc_buf_grow(b, n + 1);
	uint32_t v = 0;
	char digits[5];
	size_t i;

	for (i = 0; i < 4; i++)
		v = v << 8 | (i < n ? bytes[i] : 0);
	for (i = 5; i--; v /= 85)
		digits[i] = digit_of(v % 85);
	if (text)
		memcpy(text, digits, n + 1);
}

/* Returns the deflated bytes; caller frees them. NULL: out of memory. */
static uint8_t *deflated(const uint8_t *bytes, size_t n, size_t *ret_n)
{
	uLongf size = compressBound(n);
	uint8_t *ret = malloc(size);

	if (!ret || compress2(ret, &size, bytes, n, Z_BEST_COMPRESSION) != Z_OK) {
		free(ret);
		return NULL;
	}
	*ret_n = size;
	return ret;
}

int ptc_page_begin(struct ptc_page_writer *w, int fd, const char *name, struct ptc_err *err)
{
	*w = (struct ptc_page_writer){ .fd = fd, .name = name };
	return write_text(w, ptc_page_head, ptc_page_head_size, err);
}

bool ptc_page_put_element(struct ptc_buf *text, const char *part, const uint8_t *bytes, size_t n)
{
	size_t packed_n = 0, i;
	uint8_t *packed = deflated(bytes, n, &packed_n);
	static const char end[] = "</script>\n";
	char begin[64];

	if (!packed)
		return false;
	(void)snprintf(begin, sizeof(begin), "<script type=\"application/x-ptcap\" class=\"%s\">",
		       part);
	ptc_buf_put(text, begin, strlen(begin));
	for (i = 0; i < packed_n; i += 4)
		put_group(text, packed + i, packed_n - i < 4 ? packed_n - i : 4);
	ptc_buf_put(text, end, strlen(end));
	free(packed);
	return !ptc_buf_failed(text);
}

int ptc_page_put(struct ptc_page_writer *w, const char *part, const uint8_t *bytes, size_t n,
		 struct ptc_err *err)
{
	ptc_buf_reset(&w->text);
	if (!ptc_page_put_element(&w->text, part, bytes, n))
		return ptc_fail_mem(err);
	return write_text(w, w->text.bytes, w->text.len, err);
}

int ptc_page_end(struct ptc_page_writer *w, struct ptc_err *err)
{
	return write_text(w, ptc_page_tail, ptc_page_tail_size, err);
}
