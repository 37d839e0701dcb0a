/* SPDX-License-Identifier: MIT */
#include "decode/calls/frame_index.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

struct ptc_frame_slot {
	uint64_t value;
	uint32_t member_plus_one; /* 0: the slot is free */
	uint32_t frame;		  /* 0: no frame has the value any more */
};

void ptc_frame_index_release(struct ptc_frame_index *x)
{
	free(x->slots);
	*x = (struct ptc_frame_index){ .used = 0 };
}

void ptc_frame_index_clear(struct ptc_frame_index *x)
{
	if (x->used)
		memset(x->slots, 0, x->nslots * sizeof(*x->slots));
	x->used = 0;
}

/* Returns the slot of the value, or the free slot for it. At least one slot is free. */
static struct ptc_frame_slot *slot_of_value(const struct ptc_frame_index *x,
					    enum ptc_frame_member member, uint64_t value)
{
	const uint64_t hash = (value + (uint64_t)member) * 0x9e3779b97f4a7c15;
	size_t i = (size_t)(hash >> 32) & (x->nslots - 1);

	while (x->slots[i].member_plus_one &&
	       (x->slots[i].member_plus_one != member + 1U || x->slots[i].value != value))
		i = (i + 1) & (x->nslots - 1);
	return &x->slots[i];
}

/* Make space for one more value. Values without a frame are dropped. */
static bool make_free_slot(struct ptc_frame_index *x)
{
	struct ptc_frame_index new = { .nslots = FIRST_SLOTS };
	size_t i, live = 0;

	if (x->nslots && (x->used + 1) * 4 <= x->nslots * 3)
		return true;
	for (i = 0; i < x->nslots; i++)
		live += x->slots[i].frame != 0;
	while (new.nslots < live * 4)
		new.nslots *= 2;
	new.slots = calloc(new.nslots, sizeof(*new.slots));
	if (!new.slots)
		return false;
	for (i = 0; i < x->nslots; i++) {
		const struct ptc_frame_slot *s = &x->slots[i];

		if (s->frame)
			*slot_of_value(&new, (enum ptc_frame_member)(s->member_plus_one - 1),
				       s->value) = *s;
	}
	new.used = live;
	free(x->slots);
	*x = new;
	return true;
}

uint32_t ptc_frame_index_find(const struct ptc_frame_index *x, enum ptc_frame_member member,
			      uint64_t value)
{
	return x->nslots ? slot_of_value(x, member, value)->frame : 0;
}

bool ptc_frame_index_add(struct ptc_frame_index *x, enum ptc_frame_member member, uint64_t value,
			 uint32_t frame, uint32_t *ret_before)
{
	struct ptc_frame_slot *s;

	if (!make_free_slot(x))
		return false;
	s = slot_of_value(x, member, value);
	x->used += !s->member_plus_one;
	*ret_before = s->frame;
	*s = (struct ptc_frame_slot){ value, member + 1U, frame };
	return true;
}

void ptc_frame_index_remove(struct ptc_frame_index *x, enum ptc_frame_member member, uint64_t value,
			    uint32_t before)
{
	slot_of_value(x, member, value)->frame = before;
}
