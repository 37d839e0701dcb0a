/* SPDX-License-Identifier: MIT */
/* Records of a jitdump: deletes, duplicates or changes them. */
#include "base/cursor.h"
#include "mutate.h"

enum { RECORDS = 64, HEADER = 40, PREFIX = 16 };

static size_t find_records(const struct ptc_buf *b, size_t *at)
{
	size_t n = 0, off = HEADER;

	while (n < RECORDS && off < b->len && b->len - off >= PREFIX) {
		const size_t size = ptc_le32(b->bytes + off + 4);

		at[n++] = off;
		off = size < PREFIX || size > b->len - off ? b->len : off + size;
	}
	at[n] = off < b->len ? off : b->len;
	return n;
}

void mu_jitdump(struct mu_random *r, struct ptc_buf *b)
{
	size_t at[RECORDS + 1], n, i, k;

	n = b->len > HEADER ? find_records(b, at) : 0;
	if (!n || mu_once_in(r, 6)) {
		if (b->len && mu_once_in(r, 2))
			mu_bytes(b, 0, b->len);
		else
			mu_set_number(r, b, 0, b->len < HEADER ? b->len : HEADER);
		return;
	}
	i = mu_below(r, n);
	k = mu_below(r, n);
	switch (mu_below(r, 4)) {
	case 0:
		(void)mu_splice(b, at[i], at[i + 1] - at[i], NULL, 0);
		break;
	case 1:
		(void)mu_splice(b, at[k], 0, b->bytes + at[i], at[i + 1] - at[i]);
		break;
	default:
		mu_set_number(r, b, at[i], at[i + 1] - at[i]);
		break;
	}
}
