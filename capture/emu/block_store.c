/* SPDX-License-Identifier: MIT */
#include "capture/emu/block_store.h"

#include <stdbool.h>
#include <string.h>

enum {
	WAYS = 8,      /* entries per bucket: one cache line */
	FIRST = 128,   /* buckets of the first level */
	SMALLEST = 32, /* smallest size of a block in the arena, in bytes */
};

/* The upper half of the hash, and a place; or 0. */
typedef _Atomic uint64_t entry;

_Static_assert(sizeof(entry) == 8, "as in memory");

static unsigned int levels(uint64_t arena_size)
{
	const uint64_t want = arena_size / SMALLEST;
	uint64_t have = 0;
	unsigned int n = 0;

	while (have < want)
		have += (uint64_t)FIRST * WAYS << n++;
	return n;
}

uint64_t ptc_emu_segment_size(uint64_t arena_size)
{
	const uint64_t buckets = ((uint64_t)FIRST << levels(arena_size)) - FIRST;

	return PTC_EMU_ARENA_AT + arena_size + buckets * WAYS * sizeof(entry);
}

void ptc_emu_arena_init(struct ptc_emu_shared *sh, uint64_t arena_size)
{
	sh->arena_size = arena_size;
	atomic_store(&sh->arena_used, PTC_EMU_UNIT); /* place 0 means none */
}

static entry *bucket(struct ptc_emu_shared *sh, unsigned int level, uint64_t hash)
{
	const uint64_t before = ((uint64_t)FIRST << level) - FIRST;
	const uint64_t i = before + (hash & (((uint64_t)FIRST << level) - 1));

	return (entry *)((uint8_t *)sh + PTC_EMU_ARENA_AT + sh->arena_size) + i * WAYS;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0xff51afd7ed558ccd;
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct ptc_emu_block *b, const uint8_t *code)
{
	uint64_t hash = mix(mix(b->start, b->len), b->insns), v;
	size_t n;

	for (n = b->len; n >= sizeof(v); n -= sizeof(v), code += sizeof(v)) {
		memcpy(&v, code, sizeof(v));
		hash = mix(hash, v);
	}
	v = 0;
	memcpy(&v, code, n);
	return mix(hash, v);
}

/* A block to look up. */
struct wanted {
	struct ptc_emu_shared *sh;
	const struct ptc_emu_block *b;
	const uint8_t *code;
	uint64_t hash;
	uint32_t made; /* its place once stored; 0: not yet */
};

/* Returns true if the entry @e refers to the wanted block. */
static bool is(const struct wanted *w, uint64_t e)
{
	const struct ptc_emu_block *b = ptc_emu_block(w->sh, (uint32_t)e);

	return e >> 32 == w->hash >> 32 && b->start == w->b->start && b->len == w->b->len &&
	       b->insns == w->b->insns && !memcmp(b + 1, w->code, b->len);
}

static uint32_t copy_block_to_arena(const struct wanted *w)
{
	const uint64_t size =
		(sizeof(*w->b) + w->b->len + PTC_EMU_UNIT - 1) / PTC_EMU_UNIT * PTC_EMU_UNIT;
	unsigned long long at = atomic_load(&w->sh->arena_used);
	struct ptc_emu_block *to;

	do {
		if (at + size > w->sh->arena_size)
			return 0;
	} while (!atomic_compare_exchange_weak(&w->sh->arena_used, &at, at + size));
	to = ptc_emu_block(w->sh, (uint32_t)(at / PTC_EMU_UNIT));
	*to = *w->b;
	memcpy(to + 1, w->code, w->b->len);
	return (uint32_t)(at / PTC_EMU_UNIT);
}

/*
 * Checks one entry. Returns true if *ret_place is the result. A block was written before its entry.
 * If another thread stores the same block first, our copy stays unused.
 */
static bool probe_index_entry(struct wanted *w, entry *e, uint32_t *ret_place)
{
	uint64_t seen = atomic_load(e);

	if (!seen) {
		if (!w->made)
			w->made = copy_block_to_arena(w);
		*ret_place = w->made;
		if (!w->made ||
		    atomic_compare_exchange_strong(e, &seen, w->hash >> 32 << 32 | w->made))
			return true;
	}
	*ret_place = (uint32_t)seen;
	return is(w, seen);
}

uint32_t ptc_emu_arena_place(struct ptc_emu_shared *sh, const struct ptc_emu_block *b,
			     const uint8_t *code)
{
	struct wanted w = { sh, b, code, hash_of(b, code), 0 };
	const unsigned int n = levels(sh->arena_size);
	unsigned int level, way;
	uint32_t place;

	for (level = 0; level < n; level++) {
		entry *e = bucket(sh, level, w.hash);

		for (way = 0; way < WAYS; way++)
			if (probe_index_entry(&w, &e[way], &place))
				return place;
	}
	/* The index is full: the block may be stored again. */
	return w.made ? w.made : copy_block_to_arena(&w);
}
