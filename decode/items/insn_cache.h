/* SPDX-License-Identifier: MIT */
/*
 * Remembers the kind of instruction at each address: a byte for each byte of code that ran. Entries
 * are in pages, as the code is, so that neighbors in the code are neighbors here.
 */
#ifndef PTC_DECODE_ITEMS_INSN_CACHE_H
#define PTC_DECODE_ITEMS_INSN_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

struct ptc_addrspace;

enum {
	PTC_INSN_CACHE_PAGE_BITS = 12,
	PTC_INSN_CACHE_CHUNK = 64, /* pages that are allocated together */
	PTC_INSN_CACHE_CHUNKS = 64,
	PTC_INSN_CACHE_GEN_SHIFT = 64 - PTC_INSN_CACHE_PAGE_BITS,
};

/* Result of ptc_insn_decode(). */
struct ptc_kind_len {
	uint8_t kind, len; /* len 0: no instruction can be read */
};

/* A page of code. @key: the generation in the upper bits, the page number in the others. */
struct ptc_insn_cache_slot {
	uint64_t key;
	uint8_t *codes; /* kind << 4 | len; 0: not known */
};

struct ptc_insn_cache {
	const struct ptc_addrspace *as; /* lent */
	uint64_t view;			/* as->view of the code */
	enum ptc_mode mode;		/* mode of everything that was decoded here */
	/* generation of this code, at its place in the key; never 0 */
	uint64_t gen;
	size_t npages; /* pages of this generation */
	uint8_t *chunks[PTC_INSN_CACHE_CHUNKS];
	struct ptc_insn_cache_slot
		*slots;	    /* owned, except the shared empty slot; grows with the code */
	uint64_t slot_mask; /* number of slots, a power of two, minus 1 */
};

/* @k is zeroed. */
void ptc_insn_cache_init(struct ptc_insn_cache *k);
void ptc_insn_cache_release(struct ptc_insn_cache *k);

/* Use @as from now on. Also call if @as, which is not a view, has changed. */
void ptc_insn_cache_set_code(struct ptc_insn_cache *k, const struct ptc_addrspace *as);

/* Slow path of ptc_insn_cache_at(). */
struct ptc_kind_len ptc_insn_cache_find(struct ptc_insn_cache *k, uint64_t ip, enum ptc_mode mode);

static inline struct ptc_kind_len ptc_insn_cache_at(struct ptc_insn_cache *k, uint64_t ip,
						    enum ptc_mode mode)
{
	const uint64_t page = ip >> PTC_INSN_CACHE_PAGE_BITS;
	const struct ptc_insn_cache_slot *s = &k->slots[page & k->slot_mask];
	uint8_t code = 0;

	if (s->key == (page | k->gen) && mode == k->mode)
		code = s->codes[ip & ((1 << PTC_INSN_CACHE_PAGE_BITS) - 1)];
	if (!code)
		return ptc_insn_cache_find(k, ip, mode);
	return (struct ptc_kind_len){ .kind = code >> 4, .len = code & 15 };
}

#endif
