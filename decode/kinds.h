/* SPDX-License-Identifier: MIT */
/*
 * What kind of instruction is at an address, remembered: a byte for each byte of code that ran, in
 * pages as the code is, so that what is close together there is so here.
 */
#ifndef PTC_DECODE_KINDS_H
#define PTC_DECODE_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

struct ptc_addrspace;

enum {
	PTC_KINDS_PAGE_BITS = 12,
	PTC_KINDS_CHUNK = 64, /* pages that are allocated together */
	PTC_KINDS_CHUNKS = 64,
	PTC_KINDS_GEN_SHIFT = 64 - PTC_KINDS_PAGE_BITS,
};

/* What ptc_insn_decode finds. */
struct ptc_kind_len {
	uint8_t kind, len; /* len 0: there is none to be read */
};

/* A page of code: of the generation in the upper bits of @key, the number in the others. */
struct ptc_kinds_slot {
	uint64_t key;
	uint8_t *codes; /* kind << 4 | len; 0: not known */
};

struct ptc_kinds {
	const struct ptc_addrspace *as; /* lent */
	uint64_t view;			/* as->view of the code */
	enum ptc_mode mode;		/* in which everything here was decoded */
	uint64_t gen;			/* in place; never 0: pages of this code */
	size_t npages;			/* of this generation */
	uint8_t *chunks[PTC_KINDS_CHUNKS];
	struct ptc_kinds_slot
		*slots;	    /* owned, unless there is one alone; they grow with the code */
	uint64_t slot_mask; /* how many there are, a power of two, less one */
};

/* @k is zeros. */
void ptc_kinds_init(struct ptc_kinds *k);
void ptc_kinds_release(struct ptc_kinds *k);

/* Use @as from now on, or look at it anew because it changed: it is no view then. */
void ptc_kinds_set_code(struct ptc_kinds *k, const struct ptc_addrspace *as);

/* ptc_kinds_at where it is not at hand. */
struct ptc_kind_len ptc_kinds_find(struct ptc_kinds *k, uint64_t ip, enum ptc_mode mode);

static inline struct ptc_kind_len ptc_kinds_at(struct ptc_kinds *k, uint64_t ip, enum ptc_mode mode)
{
	const uint64_t page = ip >> PTC_KINDS_PAGE_BITS;
	const struct ptc_kinds_slot *s = &k->slots[page & k->slot_mask];
	uint8_t code = 0;

	if (s->key == (page | k->gen) && mode == k->mode)
		code = s->codes[ip & ((1 << PTC_KINDS_PAGE_BITS) - 1)];
	if (!code)
		return ptc_kinds_find(k, ip, mode);
	return (struct ptc_kind_len){ .kind = code >> 4, .len = code & 15 };
}

#endif
