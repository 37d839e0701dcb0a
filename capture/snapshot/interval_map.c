/* SPDX-License-Identifier: MIT */
#include "capture/snapshot/interval_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"

struct ptc_told {
	size_t owners;
	uint64_t time;
	_Alignas(8) uint8_t bytes[];
};

struct ptc_told *ptc_told_new(uint64_t time, size_t size)
{
	struct ptc_told *t = malloc(sizeof(*t) + size);

	if (t) {
		t->owners = 1;
		t->time = time;
	}
	return t;
}

void *ptc_told_bytes(struct ptc_told *t)
{
	return t->bytes;
}

void ptc_told_put(struct ptc_told *t)
{
	if (t && !--t->owners)
		free(t);
}

/* Returns the index of the first span that ends after @addr. */
static size_t find_span_ending_after(const struct ptc_spans *s, uint64_t addr)
{
	return PTC_PARTITION_POINT(i, 0, s->n, s->items[i].end <= addr);
}

static void insert(struct ptc_spans *s, size_t at, const struct ptc_span *span)
{
	memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof(*s->items));
	s->items[at] = *span;
	s->n++;
	span->told->owners++;
}

/* The caller has reserved space. */
static void cut(struct ptc_spans *s, uint64_t start, uint64_t end)
{
	size_t at = find_span_ending_after(s, start), to;

	if (at < s->n && s->items[at].start < start) {
		struct ptc_span high = s->items[at];

		s->items[at].end = start;
		at++;
		if (high.end > end) {
			high.start = end;
			insert(s, at, &high);
			return;
		}
	}
	for (to = at; to < s->n && s->items[to].end <= end; to++)
		ptc_told_put(s->items[to].told);
	if (to < s->n && s->items[to].start < end)
		s->items[to].start = end;
	memmove(s->items + at, s->items + to, (s->n - to) * sizeof(*s->items));
	s->n -= to - at;
}

/* A cut may split one span, and a put adds one. */
static bool reserve_two_spans(struct ptc_spans *s)
{
	return ptc_vec_reserve((void **)&s->items, &s->cap, s->n + 2, sizeof(*s->items));
}

bool ptc_spans_cut(struct ptc_spans *s, uint64_t start, uint64_t end)
{
	if (start >= end || !s->n)
		return true;
	if (!reserve_two_spans(s))
		return false;
	cut(s, start, end);
	return true;
}

bool ptc_spans_put(struct ptc_spans *s, uint64_t start, uint64_t end, struct ptc_told *told)
{
	const struct ptc_span span = { start, end, start, told };

	if (start >= end)
		return true;
	if (!reserve_two_spans(s))
		return false;
	cut(s, start, end);
	insert(s, find_span_ending_after(s, start), &span);
	return true;
}

/* Appends the part of @span within [start, end), if any. */
static void append_part(struct ptc_spans *to, const struct ptc_span *span, uint64_t start,
			uint64_t end)
{
	struct ptc_span part = *span;

	if (part.start < start)
		part.start = start;
	if (part.end > end)
		part.end = end;
	if (part.start < part.end)
		insert(to, to->n, &part);
}

bool ptc_spans_only(struct ptc_spans *s, uint64_t until, const struct ptc_range *ranges, size_t n)
{
	struct ptc_spans kept = { .n = 0 };
	size_t i, r = 0;

	/* Each range end splits a span at most once. */
	if (!ptc_vec_reserve((void **)&kept.items, &kept.cap, s->n + n + 1, sizeof(*kept.items)))
		return false;
	for (i = 0; i < s->n; i++) {
		const struct ptc_span *span = &s->items[i];
		size_t k;

		if (span->told->time > until) {
			append_part(&kept, span, span->start, span->end);
			continue;
		}
		while (r < n && ranges[r].end <= span->start)
			r++;
		for (k = r; k < n && ranges[k].start < span->end; k++)
			append_part(&kept, span, ranges[k].start, ranges[k].end);
	}
	ptc_spans_clear(s);
	*s = kept;
	return true;
}

bool ptc_spans_copy(struct ptc_spans *to, const struct ptc_spans *from)
{
	size_t i;

	if (!from->n)
		return true;
	if (!ptc_vec_reserve((void **)&to->items, &to->cap, from->n, sizeof(*to->items)))
		return false;
	memcpy(to->items, from->items, from->n * sizeof(*to->items));
	to->n = from->n;
	for (i = 0; i < to->n; i++)
		to->items[i].told->owners++;
	return true;
}

void ptc_spans_clear(struct ptc_spans *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		ptc_told_put(s->items[i].told);
	free(s->items);
	*s = (struct ptc_spans){ .n = 0 };
}
