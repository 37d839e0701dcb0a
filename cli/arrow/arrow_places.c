/* SPDX-License-Identifier: MIT */
#include "cli/arrow/arrow_places.h"

#include <stdlib.h>

#include "cli/arrow/arrow_table.h"
#include "cli/common/number_index.h"
#include "ptcap/lookup.h"
#include "ptcap/record.h"

enum { ADDRESS_BITS = 17 };

struct ptc_arrow_address {
	uint64_t ip;
	uint64_t code; /* number of the code + 1; 0: the entry is empty */
	struct ptc_arrow_place place;
};

static const struct ptc_arrow_place no_place = { PTC_ARROW_NULL64, PTC_ARROW_NULL, PTC_ARROW_NULL,
						 PTC_ARROW_NULL };

void ptc_arrow_places_release(struct ptc_arrow_places *p)
{
	free(p->pairs);
	free(p->seen);
	p->pairs = NULL;
	p->seen = NULL;
}

bool ptc_arrow_places_begin(struct ptc_arrow_places *p)
{
	ptc_code_parts_begin(&p->code);
	/* The part is valid for one state of the code only. */
	p->part = (struct ptc_code_part){ .end = 0 };
	if (!p->pairs)
		p->pairs = calloc((size_t)1 << PTC_ARROW_PAIR_BITS, sizeof(*p->pairs));
	if (!p->seen)
		p->seen = calloc((size_t)1 << ADDRESS_BITS, sizeof(*p->seen));
	return p->pairs && p->seen;
}

/* Returns the index of the build-id of the file at @ip, as ptc_arrow_name. */
static int32_t build_id_at(struct ptc_arrow_places *p, const struct ptc_item *it, uint64_t ip)
{
	char hex[2 * PTC_BUILD_ID_MAX + 1];
	struct ptc_build_id id;

	if (!ptc_decode_file_id(p->d, it, ip, &id))
		return PTC_ARROW_NULL;
	ptc_build_id_hex(&id, hex);
	return ptc_arrow_name(p->names, PTC_ARROW_BUILD_ID, hex);
}

bool ptc_arrow_place(struct ptc_arrow_places *p, const struct ptc_item *it, uint64_t ip,
		     struct ptc_arrow_place *ret)
{
	const uint64_t code = ptc_code_parts_at(&p->code, p->d, it, ip)->number + 1;
	const uint64_t hash = ptc_hash_mix(ptc_hash_mix(0, ip), code);
	struct ptc_arrow_address *a = &p->seen[hash >> (64 - ADDRESS_BITS)];
	struct ptc_arrow_place place = { .off = ip };
	uint64_t in_function;

	if (a->ip != ip || a->code != code) {
		place.file = ptc_arrow_name(p->names, PTC_ARROW_FILE,
					    ptc_decode_file(p->d, it, ip, &place.off));
		place.function = ptc_arrow_name(p->names, PTC_ARROW_FUNCTION,
						ptc_decode_symbol(p->d, it, ip, &in_function));
		place.build_id = build_id_at(p, it, ip);
		if (place.file == PTC_ARROW_NO_MEMORY || place.function == PTC_ARROW_NO_MEMORY ||
		    place.build_id == PTC_ARROW_NO_MEMORY)
			return false;
		*a = (struct ptc_arrow_address){ ip, code, place };
	}
	*ret = a->place;
	return true;
}

/* Returns the number of the code at both addresses. Fast path: they are in the last part. */
static uint64_t pair_code(struct ptc_arrow_places *p, const struct ptc_item *it, uint64_t from,
			  uint64_t to)
{
	struct ptc_code_part part;

	if (p->pid == it->pid && ptc_is_in_part(&p->part, from) && ptc_is_in_part(&p->part, to))
		return p->part.number;
	part = *ptc_code_parts_at(&p->code, p->d, it, from);
	/* If the ends have different numbers, the state has a number for both. */
	if (ptc_code_parts_at(&p->code, p->d, it, to)->number != part.number)
		return ptc_code_parts_state(&p->code, p->d, it) << 1 | 1;
	p->part = part;
	p->pid = it->pid;
	return part.number;
}

const struct ptc_arrow_pair *ptc_arrow_places_pair(struct ptc_arrow_places *p,
						   const struct ptc_item *it)
{
	const bool has_from = ptc_item_has_from(it), has_to = ptc_item_has_to(it);
	const uint64_t from = has_from ? it->from : it->to, to = has_to ? it->to : from;
	const uint64_t code = pair_code(p, it, from, to) << 2 | (uint64_t)has_from << 1 |
			      (uint64_t)has_to | UINT64_C(1) << 63;
	const uint64_t hash = it->from * 0x9e3779b97f4a7c15 + it->to * 0xc2b2ae3d27d4eb4f;
	struct ptc_arrow_pair *pair = &p->pairs[hash >> (64 - PTC_ARROW_PAIR_BITS)];
	struct ptc_arrow_pair new = { it->from, it->to, code, no_place, no_place };

	if (pair->from == it->from && pair->to == it->to && pair->code == code)
		return pair;
	if ((has_from && !ptc_arrow_place(p, it, from, &new.source)) ||
	    (has_to && !ptc_arrow_place(p, it, to, &new.target)))
		return NULL;
	*pair = new;
	return pair;
}
