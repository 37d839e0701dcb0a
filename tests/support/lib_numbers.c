/* SPDX-License-Identifier: MIT */
#include "lib_numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fewer.h"

enum { SIZES = 3, VALUES = 6, STEP = FEWER(1, 3) };

static uint64_t get(const uint8_t *p, size_t size)
{
	uint64_t v = 0;

	while (size--)
		v = v << 8 | p[size];
	return v;
}

static void put(uint8_t *p, size_t size, uint64_t v)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* The values tried so far for the bytes at one position: the original value and each number. */
struct tried {
	uint64_t bytes[1 + SIZES * VALUES];
	size_t n;
};

static bool is_new(struct tried *t, uint64_t bytes)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->bytes[i] == bytes)
			return false;
	t->bytes[t->n++] = bytes;
	return true;
}

void nb_each(const uint8_t *bytes, size_t len,
	     void (*try)(const void *ctx, const uint8_t *bytes, size_t len), const void *ctx)
{
	uint8_t *copy = calloc(1, len ? len : 1);
	size_t off, size, i;

	if (!copy)
		abort();
	if (len)
		memcpy(copy, bytes, len);
	try(ctx, copy, len);
	for (off = 0; off + 2 <= len; off += 2) {
		const size_t all = len - off < 8 ? len - off : 8;
		struct tried tried = { { get(bytes + off, all) }, 1 };

		for (size = 2; size <= all; size *= 2) {
			const uint64_t was = get(bytes + off, size);
			const uint64_t values[VALUES] = {
				0, 1, was - 1, was + 1, UINT64_MAX, UINT64_MAX >> (65 - 8 * size)
			};

			/* Each position begins with another value. */
			for (i = (off / 2 + size) % STEP; i < VALUES; i += STEP) {
				put(copy + off, size, values[i]);
				if (is_new(&tried, get(copy + off, all)))
					try(ctx, copy, len);
			}
			put(copy + off, size, was);
		}
	}
	free(copy);
}
