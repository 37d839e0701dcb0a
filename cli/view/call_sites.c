/* SPDX-License-Identifier: MIT */
#include "cli/view/call_sites.h"

#include <stdlib.h>

#include "base/grow.h"

enum { SEEN_BITS = 14 };

/* The number of an address, while the mappings do not change. */
struct ptc_site_seen {
	uint64_t ip, state;
	uint32_t number; /* 0: unused */
};

bool ptc_call_sites_init(struct ptc_call_sites *s, struct ptc_decode *d, struct ptc_names *texts,
			 struct ptc_view_sources *sources)
{
	*s = (struct ptc_call_sites){ .d = d, .texts = texts, .sources = sources };
	s->seen = calloc((size_t)1 << SEEN_BITS, sizeof(*s->seen));
	return s->seen != NULL;
}

void ptc_call_sites_release(struct ptc_call_sites *s)
{
	free(s->v);
	free(s->index.slots);
	free(s->seen);
	*s = (struct ptc_call_sites){ .n = 0 };
}

static uint64_t hash_of_site(const struct ptc_call_site *p)
{
	return ptc_hash_mix(ptc_hash_mix(0, p->file), p->off);
}

/* Returns the number of @p; 0: it is new. */
static uint32_t find_site(const struct ptc_call_sites *s, const struct ptc_call_site *p)
{
	const struct ptc_number_index *x = &s->index;
	size_t slot;

	if (!x->slots)
		return 0;
	for (slot = ptc_number_index_first(x, hash_of_site(p)); x->slots[slot];
	     slot = ptc_number_index_next(x, slot)) {
		const struct ptc_call_site *there = &s->v[x->slots[slot] - 1];

		if (there->file == p->file && there->off == p->off)
			return x->slots[slot];
	}
	return 0;
}

/* Returns the number of the new place @p; UINT32_MAX: out of memory. */
static uint32_t add_site(struct ptc_call_sites *s, const struct ptc_call_site *p)
{
	bool emptied;
	size_t i;

	if (s->n >= UINT32_MAX - 2 || !ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)) ||
	    !ptc_number_index_grow(&s->index, &emptied))
		return UINT32_MAX;
	for (i = 0; i < s->n && emptied; i++)
		ptc_number_index_add(&s->index, hash_of_site(&s->v[i]), (uint32_t)i + 1);
	s->v[s->n++] = *p;
	ptc_number_index_add(&s->index, hash_of_site(p), (uint32_t)s->n);
	return (uint32_t)s->n;
}

static uint32_t look_up_site(struct ptc_call_sites *s, const struct ptc_item *item, uint64_t ip)
{
	struct ptc_call_site p = { .off = ip };
	uint32_t number;

	p.file = ptc_names_get(s->texts, ptc_decode_file(s->d, item, ip, &p.off));
	if (p.file == UINT32_MAX)
		return UINT32_MAX;
	number = find_site(s, &p);
	if (number)
		return number;
	p.function = ptc_names_get(s->texts, ptc_decode_symbol(s->d, item, ip, &p.in_func));
	if (!p.function)
		p.in_func = UINT64_MAX;
	p.source = ptc_names_get(s->texts, ptc_decode_srcline(s->d, item, ip, &p.line));
	if (p.source == UINT32_MAX || p.function == UINT32_MAX ||
	    !ptc_view_sources_note(s->sources, s->d, s->texts, item, ip, p.source))
		return UINT32_MAX;
	return add_site(s, &p);
}

uint32_t ptc_call_sites_number(struct ptc_call_sites *s, const struct ptc_item *item, uint64_t ip)
{
	const uint64_t state = ptc_decode_code_state(s->d, item);
	const uint64_t hash = ptc_hash_mix(ptc_hash_mix(0, ip), state);
	struct ptc_site_seen *seen = &s->seen[hash >> (64 - SEEN_BITS)];
	uint32_t number;

	if (!ip)
		return 0;
	if (seen->number && seen->ip == ip && seen->state == state)
		return seen->number;
	number = look_up_site(s, item, ip);
	if (number != UINT32_MAX)
		*seen = (struct ptc_site_seen){ ip, state, number };
	return number;
}
