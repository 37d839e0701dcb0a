/* SPDX-License-Identifier: MIT */
#include "decode/items/insn_cache.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/image/addrspace.h"

enum {
	PAGE = 1 << PTC_INSN_CACHE_PAGE_BITS,
	SLOTS_FEW = 1 << 10, /* for up to PAGES_FEW pages: enough for most threads */
	PAGES_FEW = SLOTS_FEW / 16,
	SLOTS_MAX = 1 << 15,
	PAGES_MAX = PTC_INSN_CACHE_CHUNK * PTC_INSN_CACHE_CHUNKS,
};

static_assert((int)PTC_KIND_COUNT <= 16 && (int)PTC_INSN_MAX < 16,
	      "a kind and a length are a byte");
static_assert((int)PAGES_MAX <= (int)SLOTS_MAX / 2, "there is always a free slot, and soon");

static const uint64_t GEN_ONE = 1ull << PTC_INSN_CACHE_GEN_SHIFT;

/*
 * The table of each struct ptc_insn_cache that has decoded nothing. Shared, because a recording may
 * have thousands of queues. Never written.
 */
static struct ptc_insn_cache_slot no_slot;

static void no_slots(struct ptc_insn_cache *k)
{
	k->slots = &no_slot;
	k->slot_mask = 0;
}

void ptc_insn_cache_init(struct ptc_insn_cache *k)
{
	k->gen = GEN_ONE;
	no_slots(k);
}

void ptc_insn_cache_release(struct ptc_insn_cache *k)
{
	size_t i;

	for (i = 0; i < PTC_INSN_CACHE_CHUNKS; i++) {
		free(k->chunks[i]);
		k->chunks[i] = NULL;
	}
	if (k->slots != &no_slot)
		free(k->slots);
	no_slots(k);
}

static void forget_all_pages(struct ptc_insn_cache *k)
{
	k->npages = 0;
	k->gen += GEN_ONE;
	if (k->gen)
		return;
	/* Slots of the first generation would be valid again. */
	if (k->slots != &no_slot)
		memset(k->slots, 0, (k->slot_mask + 1) * sizeof(*k->slots));
	k->gen = GEN_ONE;
}

void ptc_insn_cache_set_code(struct ptc_insn_cache *k, const struct ptc_addrspace *as)
{
	k->as = as;
	if (!as->view || as->view != k->view)
		forget_all_pages(k);
	k->view = as->view;
}

static bool is_free(const struct ptc_insn_cache *k, const struct ptc_insn_cache_slot *s)
{
	return s->key >> PTC_INSN_CACHE_GEN_SHIFT != k->gen >> PTC_INSN_CACHE_GEN_SHIFT;
}

/*
 * Returns the slot of @page, or the free slot where it belongs. Neighboring pages have neighboring
 * slots. Pages whose slot is taken are scattered.
 */
static struct ptc_insn_cache_slot *find_page_slot(struct ptc_insn_cache *k, uint64_t page)
{
	struct ptc_insn_cache_slot *s = &k->slots[page & k->slot_mask];
	uint64_t at = page * 0x9e3779b97f4a7c15 >> 32;

	for (; s->key != (page | k->gen) && !is_free(k, s); at++)
		s = &k->slots[at & k->slot_mask];
	return s;
}

/*
 * Ensures that there is a slot for one more page. There are many more slots than pages: a page
 * whose slot is taken costs time at each look-up. Returns false if out of memory.
 */
static bool grow_page_slots(struct ptc_insn_cache *k)
{
	struct ptc_insn_cache_slot *const old = k->slots, *slots;
	const size_t n = k->npages < PAGES_FEW ? SLOTS_FEW : SLOTS_MAX;
	const size_t nold = old == &no_slot ? 0 : k->slot_mask + 1;
	size_t i;

	if (n <= k->slot_mask + 1)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	k->slots = slots;
	k->slot_mask = n - 1;
	for (i = 0; i < nold; i++)
		if (!is_free(k, &old[i]))
			*find_page_slot(k, old[i].key & ~(UINT64_MAX << PTC_INSN_CACHE_GEN_SHIFT)) =
				old[i];
	if (nold)
		free(old);
	return true;
}

/* Allocate one more page. NULL: out of memory. */
static uint8_t *new_page(struct ptc_insn_cache *k)
{
	uint8_t **chunk = &k->chunks[k->npages / PTC_INSN_CACHE_CHUNK], *p;

	if (!*chunk)
		*chunk = malloc((size_t)PTC_INSN_CACHE_CHUNK * PAGE);
	if (!*chunk)
		return NULL;
	p = *chunk + k->npages % PTC_INSN_CACHE_CHUNK * PAGE;
	k->npages++;
	return memset(p, 0, PAGE);
}

/* Returns the byte for @ip. NULL: out of memory. */
static uint8_t *code_of(struct ptc_insn_cache *k, uint64_t ip)
{
	const uint64_t page = ip >> PTC_INSN_CACHE_PAGE_BITS;
	struct ptc_insn_cache_slot *s = find_page_slot(k, page);

	if (is_free(k, s)) {
		if (k->npages == PAGES_MAX)
			forget_all_pages(k);
		if (!grow_page_slots(k))
			return NULL;
		s = find_page_slot(k, page);
		s->codes = new_page(k);
		if (!s->codes)
			return NULL;
		s->key = page | k->gen;
	}
	return &s->codes[ip % PAGE];
}

static uint8_t decode_kind_and_len(const struct ptc_insn_cache *k, uint64_t ip)
{
	uint8_t bytes[PTC_INSN_MAX];
	struct ptc_insn insn;
	const size_t n = ptc_addrspace_read(k->as, ip, bytes, sizeof(bytes));

	if (!n || ptc_insn_decode(k->mode, bytes, n, ip, &insn) != PTC_INSN_OK)
		return 0;
	return (uint8_t)(insn.kind << 4 | insn.len);
}

struct ptc_kind_len ptc_insn_cache_find(struct ptc_insn_cache *k, uint64_t ip, enum ptc_mode mode)
{
	uint8_t *known, code;

	if (mode != k->mode)
		forget_all_pages(k);
	k->mode = mode;
	known = code_of(k, ip);
	code = known ? *known : 0;
	if (!code)
		code = decode_kind_and_len(k, ip);
	if (known)
		*known = code;
	return (struct ptc_kind_len){ .kind = code >> 4, .len = code & 15 };
}
