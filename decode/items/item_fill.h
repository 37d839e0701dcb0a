/* SPDX-License-Identifier: MIT */
/* Builds many items for branches at once: the common fields are assembled only once. */
#ifndef PTC_DECODE_ITEMS_ITEM_FILL_H
#define PTC_DECODE_ITEMS_ITEM_FILL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decode/items/item_queue.h"

typedef uint64_t ptc_stamp_pair __attribute__((vector_size(16)));

/* The common fields. */
struct ptc_stamp {
	ptc_stamp_pair when; /* time; pid and tid */
	uint64_t place;	     /* cpu and queue */
};

static_assert(offsetof(struct ptc_item, from) == 0 && offsetof(struct ptc_item, to) == 8 &&
		      offsetof(struct ptc_item, time) == 16 &&
		      offsetof(struct ptc_item, pid) == 24 &&
		      offsetof(struct ptc_item, cpu) == 32 &&
		      offsetof(struct ptc_item, type) == 40 &&
		      offsetof(struct ptc_item, kind) == 41,
	      "an item's words");

/* Type and kind. The bytes behind them are unused for branches. */
static inline uint64_t ptc_stamp_head(uint8_t kind)
{
	return PTC_ITEM_BRANCH | (uint64_t)kind << 8;
}

static inline struct ptc_stamp ptc_stamp_of(const struct ptc_out *o, uint64_t time)
{
	const struct ptc_item it = ptc_out_stamp(o, time);
	struct ptc_stamp s;

	memcpy(&s.when, &it.time, sizeof(s.when));
	memcpy(&s.place, &it.cpu, sizeof(s.place));
	return s;
}

static inline void ptc_stamp_word(struct ptc_item *it, size_t at, uint64_t word)
{
	memcpy((uint8_t *)it + at, &word, sizeof(word));
}

static inline void ptc_stamp_words(struct ptc_item *it, size_t at, ptc_stamp_pair words)
{
	memcpy((uint8_t *)it + at, &words, sizeof(words));
}

/*
 * Writes the item word by word. The compiler would build a structure or array of this size in
 * memory, and copy it in chunks of another size, which is slow on processors.
 */
static inline void ptc_stamp_put(struct ptc_item *it, const struct ptc_stamp *s, uint64_t from,
				 uint64_t to, uint64_t head)
{
	ptc_stamp_word(it, 0, from);
	ptc_stamp_word(it, 8, to);
	ptc_stamp_words(it, 16, s->when);
	ptc_stamp_word(it, 32, s->place);
	ptc_stamp_word(it, 40, head);
	ptc_stamp_words(it, 48, (ptc_stamp_pair){ 0, 0 });
}

#endif
