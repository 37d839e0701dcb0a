/* SPDX-License-Identifier: MIT */
#include "arch/abort_msg.h"

#include <string.h>

#include "base/cursor.h"

enum {
	PAGE = 4096,
	WORD = 8,
	MESSAGE = 4,		 /* offset behind the size, which is unsigned int */
	SIZE_MAX_MSG = 64 << 10, /* larger messages are not believed */
};

/* The C library rounds the length of its message, with NUL, up to pages; newer ones add the size.
 */
static bool fits_pages(uint32_t size, size_t len)
{
	return len < size && size - len <= PAGE + 1;
}

bool ptc_abort_msg_read(const struct ptc_memory_view *v, uint64_t addr, char *ret, size_t size,
			bool *ret_cut)
{
	uint8_t head[MESSAGE];
	uint32_t claimed;
	size_t len;

	if (addr % PAGE || !ptc_view_read(v, addr, head, sizeof(head)))
		return false;
	claimed = ptc_le32(head);
	if (!claimed || claimed % PAGE || claimed > SIZE_MAX_MSG ||
	    !ptc_view_string(v, addr + MESSAGE, ret, size, ret_cut) || !ptc_is_text(ret))
		return false;
	len = strlen(ret);
	if (!*ret_cut && !fits_pages(claimed, len))
		return false;
	while (len && ret[len - 1] == '\n')
		ret[--len] = '\0';
	return len != 0;
}

bool ptc_abort_msg_find(const struct ptc_memory_view *v, uint64_t from, uint64_t to, uint64_t *ret)
{
	uint8_t page[PAGE];
	char text[PAGE];
	size_t n, i;
	bool cut;

	for (; from < to; from += n) {
		n = PAGE - (size_t)(from % PAGE);
		n = to - from < n ? (size_t)(to - from) : n;
		if (!ptc_view_read(v, from, page, n))
			continue;
		for (i = (size_t)(-from % WORD); i + WORD <= n; i += WORD) {
			const uint64_t addr = ptc_le64(page + i);

			if (addr && !(addr % PAGE) &&
			    ptc_abort_msg_read(v, addr, text, sizeof(text), &cut)) {
				*ret = addr;
				return true;
			}
		}
	}
	return false;
}
