/* SPDX-License-Identifier: MIT */
#include "auxtrace/bundle/partial_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { PATCH_SIZE = 4 };

void ptc_partial_free(struct ptc_partial *p)
{
	if (!p)
		return;
	free(p->ranges);
	free(p->patches);
	free(p);
}

bool ptc_partial_add(struct ptc_partial *p, uint64_t off, uint64_t len)
{
	struct ptc_partial_range r = { .off = off };

	if (__builtin_add_overflow(off, len, &r.end))
		r.end = UINT64_MAX;
	if (r.off == r.end)
		return true;
	if (!ptc_grow(&p->ranges, &p->cap, p->n + 1, sizeof(*p->ranges)))
		return false;
	p->ranges[p->n++] = r;
	return true;
}

bool ptc_partial_patch(struct ptc_partial *p, uint64_t off, uint32_t value)
{
	if (!ptc_grow(&p->patches, &p->patches_cap, p->npatches + 1, sizeof(*p->patches)))
		return false;
	p->patches[p->npatches++] = (struct ptc_partial_patch){ off, value };
	return true;
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct ptc_partial_range *a = pa, *b = pb;

	return a->off < b->off ? -1 : a->off > b->off;
}

void ptc_partial_finish(struct ptc_partial *p)
{
	size_t i, n = 0;

	if (!p->n)
		return;
	qsort(p->ranges, p->n, sizeof(*p->ranges), compare_ranges);
	for (i = 1; i < p->n; i++) {
		struct ptc_partial_range *last = &p->ranges[n];

		if (p->ranges[i].off > last->end)
			p->ranges[++n] = p->ranges[i];
		else if (p->ranges[i].end > last->end)
			last->end = p->ranges[i].end;
	}
	p->n = n + 1;
}

/* Returns the first range that ends behind @off; p->n: none. */
static size_t range_behind(const struct ptc_partial *p, uint64_t off)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (p->ranges[mid].end > off)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void apply_patch(const struct ptc_partial_patch *patch, uint64_t off, uint8_t *bytes,
			size_t n)
{
	unsigned int i;

	for (i = 0; i < PATCH_SIZE; i++)
		if (patch->off + i >= off && patch->off + i - off < n)
			bytes[patch->off + i - off] = (uint8_t)(patch->value >> 8 * i);
}

void ptc_partial_apply(const struct ptc_partial *p, uint64_t off, uint8_t *bytes, size_t n)
{
	size_t i = range_behind(p, off), done = 0, gap;

	while (done < n) {
		gap = i < p->n && p->ranges[i].off - off < n ? (size_t)(p->ranges[i].off - off) : n;
		if (i < p->n && p->ranges[i].off <= off)
			gap = 0;
		if (gap > done)
			memset(bytes + done, 0, gap - done);
		if (i == p->n || gap == n)
			break;
		done = p->ranges[i].end - off < n ? (size_t)(p->ranges[i].end - off) : n;
		i++;
	}
	for (i = 0; i < p->npatches; i++)
		apply_patch(&p->patches[i], off, bytes, n);
}
