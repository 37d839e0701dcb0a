/* SPDX-License-Identifier: MIT */
#include "arch/memory_view.h"

#include <string.h>

#include "base/cursor.h"

enum { STEP = 64 }; /* bytes of a string that are read at once */

bool ptc_view_read(const struct ptc_memory_view *v, uint64_t addr, void *to, size_t len)
{
	return v->read(v->ctx, addr, to, len) == len;
}

bool ptc_view_word(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret)
{
	uint8_t bytes[sizeof(*ret)];

	if (!ptc_view_read(v, addr, bytes, sizeof(bytes)))
		return false;
	*ret = ptc_le64(bytes);
	return true;
}

bool ptc_view_string(const struct ptc_memory_view *v, uint64_t addr, char *ret, size_t size,
		     bool *ret_cut)
{
	size_t done = 0, want, n;

	*ret_cut = false;
	while (done < size) {
		want = size - done < STEP ? size - done : STEP;
		n = v->read(v->ctx, addr + done, ret + done, want);
		if (memchr(ret + done, 0, n))
			return true;
		if (n < want)
			return false;
		done += n;
	}
	ret[size - 1] = '\0';
	*ret_cut = true;
	return true;
}

bool ptc_is_text(const char *text)
{
	const char *c;

	for (c = text; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\t' && *c != '\n') || *c == 0x7f)
			return false;
	return c > text;
}
