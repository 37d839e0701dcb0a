/* SPDX-License-Identifier: MIT */
#include "capture/snapshot/latest_by_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"

/* Returns the index of the first item whose key is at least @key. */
static size_t place(const struct ptc_latest *l, uint64_t key)
{
	return PTC_PARTITION_POINT(i, 0, l->n, l->items[i].key < key);
}

static bool has(const struct ptc_latest *l, size_t at, uint64_t key)
{
	return at < l->n && l->items[at].key == key;
}

bool ptc_latest_set(struct ptc_latest *l, uint64_t key, const struct ptc_buf *rec)
{
	const size_t at = place(l, key);
	struct ptc_buf *b;

	if (!has(l, at, key)) {
		if (!ptc_vec_reserve((void **)&l->items, &l->cap, l->n + 1, sizeof(*l->items)))
			return false;
		memmove(l->items + at + 1, l->items + at, (l->n - at) * sizeof(*l->items));
		l->items[at] = (struct ptc_latest_item){ .key = key };
		l->n++;
	}
	b = &l->items[at].rec;
	ptc_buf_reset(b);
	ptc_buf_put(b, rec->bytes, rec->len);
	return !ptc_buf_failed(b);
}

void ptc_latest_drop(struct ptc_latest *l, uint64_t key)
{
	const size_t at = place(l, key);

	if (!has(l, at, key))
		return;
	ptc_buf_release(&l->items[at].rec);
	l->n--;
	memmove(l->items + at, l->items + at + 1, (l->n - at) * sizeof(*l->items));
}

void ptc_latest_put(const struct ptc_latest *l, struct ptc_buf *b)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		ptc_buf_put(b, l->items[i].rec.bytes, l->items[i].rec.len);
}

void ptc_latest_release(struct ptc_latest *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		ptc_buf_release(&l->items[i].rec);
	free(l->items);
	*l = (struct ptc_latest){ .n = 0 };
}
