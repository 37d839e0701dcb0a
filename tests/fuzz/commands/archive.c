/* SPDX-License-Identifier: MIT */
#include "archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

enum { HEAD = 1 + AR_CHOICES, PART_HEAD = 5 };

void ar_release(struct archive *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		ptc_buf_release(&a->parts[i].bytes);
	a->n = 0;
}

bool ar_add(struct archive *a, enum ar_kind kind, const void *bytes, size_t len)
{
	struct ar_part *p = &a->parts[a->n];

	if (a->n == AR_PARTS_MAX)
		return false;
	*p = (struct ar_part){ .kind = kind, .bytes = PTC_BUF_INIT };
	ptc_buf_put(&p->bytes, bytes, len);
	if (ptc_buf_failed(&p->bytes))
		abort();
	a->n++;
	return true;
}

void ar_read(struct archive *a, const uint8_t *bytes, size_t len)
{
	const uint8_t *const end = bytes + len;

	memset(a, 0, sizeof(*a));
	if (!len)
		return;
	a->command = bytes[0];
	memcpy(a->choices, bytes + 1, len < HEAD ? len - 1 : AR_CHOICES);
	if (len < HEAD)
		return;
	for (bytes += HEAD; end - bytes >= PART_HEAD;) {
		const uint32_t claimed = ptc_le32(bytes + 1);
		const size_t left = (size_t)(end - bytes) - PART_HEAD;
		const size_t n = claimed < left ? claimed : left;

		if (!ar_add(a, (enum ar_kind)(bytes[0] % AR_KINDS), bytes + PART_HEAD, n))
			break;
		bytes += PART_HEAD + n;
	}
}

size_t ar_write(const struct archive *a, uint8_t *out, size_t max)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, len = 0;

	ptc_buf_u8(&b, a->command);
	ptc_buf_put(&b, a->choices, AR_CHOICES);
	for (i = 0; i < a->n; i++) {
		ptc_buf_u8(&b, (uint8_t)a->parts[i].kind);
		ptc_buf_le32(&b, (uint32_t)a->parts[i].bytes.len);
		ptc_buf_put(&b, a->parts[i].bytes.bytes, a->parts[i].bytes.len);
	}
	if (ptc_buf_failed(&b))
		abort();
	if (b.len <= max) {
		len = b.len;
		memcpy(out, b.bytes, len);
	}
	ptc_buf_release(&b);
	return len;
}
