/* SPDX-License-Identifier: MIT */
#include "arch/rust_panic.h"

#include <string.h>

#include "base/cursor.h"

enum {
	WORD = 8,
	SEARCHED = 16 << 10, /* bytes of the stack; the handler's frames take about 1 KiB */
	STEP = 512,
	LOCATION_AT = 2, /* words behind the payload; or one word later: Rust before 1.81 */
	LOCATION = 24,	 /* bytes */
	TABLE = 32,
	LINES_MAX = 100 << 20,
	COLUMNS_MAX = 1 << 20,
	STR = 16,    /* bytes of &str: address, length */
	STRING = 24, /* bytes of String: capacity, address, length, in any order */
	ALIGN_MAX = 1 << 16,
};

/* Reads the @len bytes of text at @addr, at most @size - 1. Returns false if they are no text. */
static bool read_str(const struct ptc_memory_view *v, uint64_t addr, uint64_t len, char *ret,
		     size_t size, bool *ret_cut)
{
	const size_t n = len < size ? (size_t)len : size - 1;

	*ret_cut = n < len;
	ret[n] = '\0';
	return ptc_is_user_address(addr) && ptc_view_read(v, addr, ret, n) && strlen(ret) == n &&
	       ptc_is_text(ret);
}

static bool read_location(const struct ptc_memory_view *v, uint64_t addr,
			  struct ptc_rust_panic *ret)
{
	static const char end[] = ".rs";
	uint8_t bytes[LOCATION];
	size_t len;
	bool cut;

	if (!ptc_is_user_address(addr) || addr % WORD ||
	    !ptc_view_read(v, addr, bytes, sizeof(bytes)))
		return false;
	ret->line = ptc_le32(bytes + STR);
	ret->column = ptc_le32(bytes + STR + 4);
	if (!ret->line || ret->line > LINES_MAX || !ret->column || ret->column > COLUMNS_MAX ||
	    ptc_le64(bytes + WORD) >= sizeof(ret->file) ||
	    !read_str(v, ptc_le64(bytes), ptc_le64(bytes + WORD), ret->file, sizeof(ret->file),
		      &cut))
		return false;
	len = strlen(ret->file);
	return len >= strlen(end) && !strcmp(ret->file + len - strlen(end), end);
}

/* --- the message --- */

/*
 * Get address and length of a String. The address of an empty one is its alignment, 1. The capacity
 * is not below the length.
 */
static bool read_string(const uint8_t bytes[STRING], uint64_t *ret_addr, uint64_t *ret_len)
{
	uint64_t sizes[2], word;
	size_t n = 0, i;

	*ret_addr = 0;
	for (i = 0; i < STRING; i += WORD) {
		word = ptc_le64(bytes + i);
		if (!*ret_addr && ptc_is_user_address(word))
			*ret_addr = word;
		else if (n < 2)
			sizes[n++] = word;
	}
	if (!*ret_addr)
		return false;
	*ret_len = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
	return true;
}

/* Reads the payload, if it is a string of one of the two kinds. */
static void read_payload(const struct ptc_memory_view *v, uint64_t addr, uint64_t size,
			 struct ptc_rust_panic *ret)
{
	uint8_t bytes[STRING];
	uint64_t text = 0, len = 0;
	bool known = false;

	if ((size == STR || size == STRING) && ptc_view_read(v, addr, bytes, (size_t)size)) {
		text = ptc_le64(bytes);
		len = ptc_le64(bytes + WORD);
		known = size == STR || read_string(bytes, &text, &len);
	}
	if (!known || !read_str(v, text, len, ret->text, sizeof(ret->text), &ret->text_cut)) {
		ret->text[0] = '\0';
		ret->text_cut = false;
	}
}

/* Reads the table of a trait object. Alignments are powers of two. */
static bool read_table(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret_size)
{
	uint8_t bytes[TABLE];
	uint64_t drop, align;

	if (!ptc_is_user_address(addr) || addr % WORD ||
	    !ptc_view_read(v, addr, bytes, sizeof(bytes)))
		return false;
	drop = ptc_le64(bytes);
	*ret_size = ptc_le64(bytes + WORD);
	align = ptc_le64(bytes + (size_t)2 * WORD);
	return (!drop || ptc_is_user_address(drop)) && align && align <= ALIGN_MAX &&
	       !(align & (align - 1)) && *ret_size % align == 0 &&
	       ptc_is_user_address(ptc_le64(bytes + (size_t)3 * WORD));
}

bool ptc_rust_panic_read(const struct ptc_memory_view *v, uint64_t addr, struct ptc_rust_panic *ret)
{
	uint64_t payload, table, location, size;
	size_t i;

	*ret = (struct ptc_rust_panic){ .line = 0 };
	if (!ptc_view_word(v, addr, &payload) || !ptc_view_word(v, addr + WORD, &table) ||
	    !payload || !read_table(v, table, &size))
		return false;
	for (i = LOCATION_AT; i <= LOCATION_AT + 1; i++)
		if (ptc_view_word(v, addr + i * WORD, &location) &&
		    read_location(v, location, ret)) {
			read_payload(v, payload, size, ret);
			return true;
		}
	return false;
}

/* --- finding --- */

/* Are these words like the structure's? That saves most reads. */
static bool may_be_panic(const uint8_t *words)
{
	const uint64_t payload = ptc_le64(words), table = ptc_le64(words + WORD);

	return payload && ptc_is_user_address(table) && table % WORD == 0;
}

bool ptc_rust_panic_find(const struct ptc_memory_view *v, uint64_t sp, uint64_t *ret)
{
	const uint64_t from = (sp + WORD - 1) & ~(uint64_t)(WORD - 1);
	struct ptc_rust_panic panic;
	uint8_t bytes[STEP + WORD];
	size_t done, n, i;

	for (done = 0; done < SEARCHED; done += STEP) {
		n = v->read(v->ctx, from + done, bytes, sizeof(bytes));
		for (i = 0; i < STEP && i + (size_t)2 * WORD <= n; i += WORD)
			if (may_be_panic(bytes + i) &&
			    ptc_rust_panic_read(v, from + done + i, &panic)) {
				*ret = from + done + i;
				return true;
			}
		if (n < sizeof(bytes))
			return false;
	}
	return false;
}
