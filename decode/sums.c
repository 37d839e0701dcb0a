/* SPDX-License-Identifier: MIT */
#include "decode/sums.h"

#include <assert.h>
#include <string.h>

/* A count for each kind, side by side. */
typedef uint8_t counts __attribute__((vector_size(16)));

enum { KINDS = sizeof(counts), GROUP = 4, MANY = UINT8_MAX /* until one is full */ };

static_assert((int)PTC_KIND_COUNT <= (int)KINDS, "each kind has a count");

/* One of a kind. */
static const counts ones[KINDS] = {
	{ 1 },
	{ 0, 1 },
	{ 0, 0, 1 },
	{ 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
};

static counts one(struct ptc_fast_rec rec)
{
	return ones[ptc_fast_rec_kind(rec) % KINDS];
}

/* @n groups, no more than a count holds. Those of a group do not wait for each other. */
static void count(uint64_t kinds[PTC_KIND_COUNT], const struct ptc_fast_rec *recs, size_t n)
{
	counts a = { 0 }, b = a, c = a, d = a;
	size_t i, k;

	for (i = 0; i < n; i++, recs += GROUP) {
		a += one(recs[0]);
		b += one(recs[1]);
		c += one(recs[2]);
		d += one(recs[3]);
	}
	for (k = 0; k < PTC_KIND_COUNT; k++)
		kinds[k] += (uint64_t)a[k] + b[k] + c[k] + d[k];
}

void ptc_sums_count(uint64_t kinds[PTC_KIND_COUNT], const struct ptc_fast_rec *recs, size_t n)
{
	size_t i, left;

	memset(kinds, 0, PTC_KIND_COUNT * sizeof(*kinds));
	for (i = 0; n - i >= GROUP; i += left * GROUP) {
		left = (n - i) / GROUP < MANY ? (n - i) / GROUP : MANY;
		count(kinds, recs + i, left);
	}
	for (; i < n; i++)
		kinds[ptc_fast_rec_kind(recs[i])]++;
}
