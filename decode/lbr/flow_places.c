/* SPDX-License-Identifier: MIT */
#include "decode/lbr/flow_places.h"

#include <stdlib.h>

#include "base/grow.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"

#define OFF_MASK ((UINT64_C(1) << PTC_FLOW_OFF_BITS) - 1)

void ptc_flow_places_release(struct ptc_flow_places *p)
{
	free(p->objects);
	*p = (struct ptc_flow_places){ .n = 0 };
}

size_t ptc_flow_object(struct ptc_flow_places *p, const struct ptc_build_id *id, bool add)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (ptc_build_id_same(&p->objects[i].id, id))
			return i + 1;
	if (!add || !id->len || p->n == PTC_FLOW_OBJECTS ||
	    !ptc_grow(&p->objects, &p->cap, p->n + 1, sizeof(*p->objects)))
		return 0;
	p->objects[p->n] = (struct ptc_flow_object){ .id = *id };
	return ++p->n;
}

uint64_t ptc_flow_place(struct ptc_flow_places *p, const struct ptc_addrspace *as, uint64_t ip,
			bool add)
{
	const uint64_t version = ptc_addrspace_version(as);
	const struct ptc_range *r;
	size_t object;

	if (p->as != as || p->version != version || ip < p->start || ip >= p->end) {
		r = ptc_addrspace_find(as, ip);
		if (!r || !r->file)
			return 0;
		/* Patched: the file alone does not say which code ran. */
		object = r->patched || r->off >> PTC_FLOW_OFF_BITS ?
				 0 :
				 ptc_flow_object(p, &r->file->id, add);
		p->as = as;
		p->version = version;
		p->start = r->start;
		p->end = r->end;
		p->place = object ? (uint64_t)object << PTC_FLOW_OFF_BITS | r->off : 0;
	}
	/* The offset must not reach the bits of the file's number. */
	if (!p->place ||
	    ip - p->start >= (UINT64_C(1) << PTC_FLOW_OFF_BITS) - (p->place & OFF_MASK))
		return 0;
	return p->place + (ip - p->start);
}
