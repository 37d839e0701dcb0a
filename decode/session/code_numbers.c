/* SPDX-License-Identifier: MIT */
#include "decode/session/code_numbers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/session/decoder.h"
#include "decode/session/item_lookup.h"

enum {
	CAP_MIN = 64,
	CAP_MAX = 1 << 17,
	PROBES = 32, /* slots that are looked at: a recording may choose addresses */
	AROUND = 1 << 20,
};

void ptc_code_numbers_release(struct ptc_code_numbers *c)
{
	free(c->slots);
	*c = (struct ptc_code_numbers){ .n = 0 };
}

/* Returns the slot of the file and base, or the empty slot for them. NULL: there is none. */
static struct ptc_code_number *slot_of(const struct ptc_code_numbers *c,
				       const struct ptc_codefile *file, uint64_t base)
{
	const uint64_t hash = ((uintptr_t)file * 0x9e3779b97f4a7c15) ^ (base * 0xc2b2ae3d27d4eb4f);
	struct ptc_code_number *slot;
	size_t i;

	for (i = 0; i < PROBES; i++) {
		slot = &c->slots[((hash >> 32) + i) & (c->cap - 1)];
		if (!slot->file || (slot->file == file && slot->base == base))
			return slot;
	}
	return NULL;
}

/* Doubles the slots. Returns false if out of memory, or if there are enough. */
static bool grow(struct ptc_code_numbers *c)
{
	struct ptc_code_numbers more = { .n = c->n, .cap = c->cap ? 2 * c->cap : CAP_MIN };
	struct ptc_code_number *slot;
	size_t i;

	if (more.cap > CAP_MAX)
		return false;
	more.slots = calloc(more.cap, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (i = 0; i < c->cap; i++) {
		slot = c->slots[i].file ? slot_of(&more, c->slots[i].file, c->slots[i].base) : NULL;
		if (slot) /* otherwise the file gets another number */
			*slot = c->slots[i];
	}
	free(c->slots);
	*c = more;
	return true;
}

/* Returns the number of the file and base, which is even; 0: too many, or out of memory. */
static uint64_t number_of(struct ptc_code_numbers *c, const struct ptc_codefile *file,
			  uint64_t base)
{
	struct ptc_code_number *slot;

	if (2 * c->n >= c->cap && !grow(c))
		return 0;
	slot = slot_of(c, file, base);
	if (!slot)
		return 0;
	if (!slot->file)
		*slot = (struct ptc_code_number){ file, base, 2 * (uint64_t)++c->n };
	return slot->number;
}

/* Is the code of @r, and are its names, those of its file? */
static bool is_of_file(const struct ptc_range *r)
{
	return r->file && !r->patched && !r->file->anonymous && r->file->from == PTC_CODE_FILE;
}

void ptc_code_numbers_part(struct ptc_code_numbers *c, const struct ptc_decode *d,
			   const struct ptc_item *item, uint64_t ip, struct ptc_code_part *ret)
{
	const struct ptc_addrspace *as = ptc_decode_addrspace(d, item);
	const struct ptc_range *r = ptc_ranges_from(&as->ranges, ip);

	ret->number = 0;
	if (r && r->start <= ip) {
		ret->start = r->start;
		ret->end = r->end;
		if (is_of_file(r) && !(ip >> 63))
			ret->number = number_of(c, r->file, r->start - r->off);
	} else { /* all addresses have the number of the state, too */
		ret->start = ip & ~(uint64_t)(AROUND - 1);
		ret->end = ip | (AROUND - 1);
		if (r && r->start < ret->end)
			ret->end = r->start;
	}
	if (!ret->number)
		ret->number = ptc_decode_code_state(d, item) << 1 | 1;
}

void ptc_decode_code_part(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			  struct ptc_code_part *ret)
{
	ptc_code_numbers_part(&d->code_numbers, d, item, ip, ret);
}
