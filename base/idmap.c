/* SPDX-License-Identifier: MIT */
#include "base/idmap.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 16 };

struct ptc_idmap_slot {
	size_t place_plus_1; /* place + 1; 0: the slot is free */
	int32_t id;
};

void ptc_idmap_release(struct ptc_idmap *m)
{
	free(m->slots);
	*m = (struct ptc_idmap){ .n = 0 };
}

/* Returns the slot of @id, or the free slot for it. At least one slot is always free. */
static struct ptc_idmap_slot *find_id_slot(const struct ptc_idmap *m, int32_t id)
{
	const uint64_t h = (uint64_t)(uint32_t)id * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (m->nslots - 1);

	while (m->slots[i].place_plus_1 && m->slots[i].id != id)
		i = (i + 1) & (m->nslots - 1);
	return &m->slots[i];
}

size_t ptc_idmap_find(const struct ptc_idmap *m, int32_t id)
{
	return m->nslots ? find_id_slot(m, id)->place_plus_1 - 1 : SIZE_MAX;
}

static bool double_slots(struct ptc_idmap *m)
{
	struct ptc_idmap bigger = { .nslots = m->nslots ? m->nslots * 2 : FIRST_SLOTS, .n = m->n };
	size_t i;

	bigger.slots = calloc(bigger.nslots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (i = 0; i < m->nslots; i++)
		if (m->slots[i].place_plus_1)
			*find_id_slot(&bigger, m->slots[i].id) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return true;
}

bool ptc_idmap_add(struct ptc_idmap *m, int32_t id, size_t place)
{
	if ((m->n + 1) * 4 > m->nslots * 3 && !double_slots(m))
		return false;
	*find_id_slot(m, id) = (struct ptc_idmap_slot){ place + 1, id };
	m->n++;
	return true;
}
