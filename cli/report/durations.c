/* SPDX-License-Identifier: MIT */
#include "cli/report/durations.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/sorted.h"

/* A power of two has 2^SUB_BITS buckets. A number of a bucket has BUCKET_BITS. */
enum { SUB_BITS = 6, BUCKET_BITS = 12 };

struct ptc_durations_bucket {
	uint64_t key; /* number of the histogram << BUCKET_BITS | number of the bucket */
	uint64_t times;
};

static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value >> SUB_BITS == 0)
		return (unsigned int)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - SUB_BITS;
	return (shift << SUB_BITS) + (unsigned int)(value >> shift);
}

/* Returns the highest value of bucket @number. */
static uint64_t highest_of(unsigned int number)
{
	const unsigned int shift = number >> SUB_BITS ? (number >> SUB_BITS) - 1 : 0;
	const uint64_t lead = number - (shift << SUB_BITS);

	return (lead << shift) + (((uint64_t)1 << shift) - 1);
}

static uint64_t hash_of_bucket(const void *entry)
{
	const struct ptc_durations_bucket *b = entry;

	return ptc_hash_mix(0, b->key);
}

static bool is_same_bucket(const void *entry, const void *key)
{
	const struct ptc_durations_bucket *a = entry, *b = key;

	return a->key == b->key;
}

/* Returns the bucket with this key, which may be new. NULL: no memory. */
static struct ptc_durations_bucket *bucket_with(struct ptc_durations *d, uint64_t key)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_durations_bucket),
						     hash_of_bucket, is_same_bucket };
	const struct ptc_durations_bucket bucket = { .key = key };
	uint32_t number = ptc_number_find(&d->index, &kind, d->v, &bucket);

	if (!number && ptc_budget_allows(sizeof(bucket)))
		number = ptc_number_append(&d->index, &kind, &d->v, &d->n, &d->cap, &bucket);
	return number ? &d->v[number - 1] : NULL;
}

bool ptc_durations_add(struct ptc_durations *d, uint64_t set, uint64_t value)
{
	struct ptc_durations_bucket *b = bucket_with(d, set << BUCKET_BITS | bucket_of(value));

	if (b)
		b->times++;
	return b;
}

bool ptc_durations_add_bucket(struct ptc_durations *d, uint64_t set, uint64_t bucket,
			      uint64_t times)
{
	struct ptc_durations_bucket *b = bucket_with(d, set << BUCKET_BITS | bucket);

	if (b)
		b->times += times;
	return b;
}

bool ptc_durations_bucket(const struct ptc_durations *d, uint64_t set, size_t *at,
			  uint64_t *ret_bucket, uint64_t *ret_times)
{
	const uint64_t first = set << BUCKET_BITS;
	const size_t i = *at ? *at : PTC_PARTITION_POINT(k, 0, d->n, d->v[k].key < first);

	if (i >= d->n || d->v[i].key >> BUCKET_BITS != set)
		return false;
	*ret_bucket = d->v[i].key - first;
	*ret_times = d->v[i].times;
	*at = i + 1;
	return true;
}

static int by_bucket_key(const void *a, const void *b)
{
	const struct ptc_durations_bucket *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

void ptc_durations_sort(struct ptc_durations *d)
{
	if (d->n)
		qsort(d->v, d->n, sizeof(*d->v), by_bucket_key);
	free(d->index.slots);
	d->index = (struct ptc_number_index){ .n = 0 };
}

uint64_t ptc_durations_percentile(const struct ptc_durations *d, uint64_t set, uint64_t n,
				  unsigned int percent)
{
	const uint64_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
	const uint64_t first = set << BUCKET_BITS;
	size_t i = PTC_PARTITION_POINT(k, 0, d->n, d->v[k].key < first);
	uint64_t passed = 0;

	for (; i < d->n && d->v[i].key >> BUCKET_BITS == set; i++) {
		passed += d->v[i].times;
		if (passed >= rank)
			return highest_of(d->v[i].key & ((1U << BUCKET_BITS) - 1));
	}
	return 0;
}

void ptc_durations_release(struct ptc_durations *d)
{
	free(d->v);
	free(d->index.slots);
	*d = (struct ptc_durations){ .n = 0 };
}
