/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"

uint64_t mu_next(struct mu_random *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state * 0x2545f4914f6cdd1du;
}

size_t mu_below(struct mu_random *r, size_t n)
{
	return (size_t)((mu_next(r) >> 11) % n);
}

bool mu_once_in(struct mu_random *r, size_t n)
{
	return !mu_below(r, n);
}

uint64_t mu_number(struct mu_random *r, unsigned int width)
{
	/* Addresses in the seeds: their program, its copy, the kernel, a JIT's code. */
	static const uint64_t places[] = { 0x1000,
					   0x1016,
					   0x7f0000001000,
					   0x7fffffffffff,
					   0x800000000000,
					   0xffff800000000000,
					   0xffffffffa1000000,
					   0xffffffffc0000000,
					   0x5000,
					   0x6000 };
	const unsigned int bits = width * 8;
	uint64_t v;

	switch (mu_below(r, 6)) {
	case 0:
		v = mu_below(r, 32);
		break;
	case 1:
		v = 0 - (uint64_t)mu_below(r, 16);
		break;
	case 2:
		v = ((uint64_t)1 << mu_below(r, bits)) + mu_below(r, 3) - 1;
		break;
	case 3:
		v = places[mu_below(r, sizeof(places) / sizeof(places[0]))] + mu_below(r, 64);
		break;
	case 4:
		v = mu_below(r, 4096);
		break;
	default:
		v = mu_next(r);
		break;
	}
	return v;
}

bool mu_splice(struct ptc_buf *b, size_t off, size_t del, const void *by, size_t n)
{
	struct ptc_buf copy = PTC_BUF_INIT;
	const size_t behind = b->len - off - del;

	if (b->len - del + n > MU_MAX && n > del)
		return false;
	/* Copy first: the inserted bytes may be in the same file. */
	if (by)
		ptc_buf_put(&copy, by, n);
	else
		ptc_buf_zero(&copy, n);
	if (n > del)
		ptc_buf_zero(b, n - del);
	CHECK(!ptc_buf_failed(b) && !ptc_buf_failed(&copy));
	if (behind)
		memmove(b->bytes + off + n, b->bytes + off + del, behind);
	if (n)
		memcpy(b->bytes + off, copy.bytes, n);
	b->len = off + n + behind;
	ptc_buf_release(&copy);
	return true;
}

void mu_set_number(struct mu_random *r, struct ptc_buf *b, size_t off, size_t len)
{
	const unsigned int width = 1u << mu_below(r, 4);
	uint64_t v, now = 0;
	size_t at;

	if (len < width)
		return;
	at = off + mu_below(r, len / width) * width;
	memcpy(&now, b->bytes + at, width);
	v = mu_once_in(r, 3) ? now + mu_below(r, 33) - 16 : mu_number(r, width);
	memcpy(b->bytes + at, &v, width);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max);

void mu_bytes(struct ptc_buf *b, size_t off, size_t len)
{
	size_t n;

	if (!len)
		return;
	n = LLVMFuzzerMutate(b->bytes + off, len, len);
	CHECK(n <= len);
	memset(b->bytes + off + n, 0, len - n);
}

/* Finds the beginning of each line in @b and the end of @b, at most @max lines. */
static size_t find_lines(const struct ptc_buf *b, size_t *at, size_t max)
{
	size_t n = 0, i;

	for (i = 0; i < b->len && n < max; i++)
		if (!i || b->bytes[i - 1] == '\n')
			at[n++] = i;
	at[n] = b->len;
	return n;
}

void mu_text(struct mu_random *r, struct ptc_buf *b)
{
	enum { LINES = 128 };
	size_t at[LINES + 1], n = find_lines(b, at, LINES), i, k;

	if (!n || mu_once_in(r, 2)) {
		mu_bytes(b, 0, b->len);
		return;
	}
	i = mu_below(r, n);
	k = mu_below(r, n);
	if (mu_once_in(r, 3))
		(void)mu_splice(b, at[i], at[i + 1] - at[i], NULL, 0);
	else
		(void)mu_splice(b, at[k], 0, b->bytes + at[i], at[i + 1] - at[i]);
}
