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

static uint64_t hash_of_site(const void *entry)
{
	const struct ptc_call_site *p = entry;

	return ptc_hash_mix(ptc_hash_mix(0, p->file), p->off);
}

static bool is_same_site(const void *entry, const void *key)
{
	const struct ptc_call_site *a = entry, *b = key;

	return a->file == b->file && a->off == b->off;
}

static uint32_t look_up_site(struct ptc_call_sites *s, const struct ptc_item *item, uint64_t ip)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_call_site), hash_of_site,
						     is_same_site };
	struct ptc_call_site p = { .off = ip };
	uint32_t number;

	p.file = ptc_names_get(s->texts, ptc_decode_file(s->d, item, ip, &p.off));
	if (p.file == UINT32_MAX)
		return UINT32_MAX;
	number = ptc_number_find(&s->index, &kind, s->v, &p);
	if (number)
		return number;
	p.function = ptc_names_get(s->texts, ptc_decode_symbol(s->d, item, ip, &p.in_func));
	if (!p.function)
		p.in_func = UINT64_MAX;
	p.source = ptc_names_get(s->texts, ptc_decode_srcline(s->d, item, ip, &p.line));
	if (p.source == UINT32_MAX || p.function == UINT32_MAX ||
	    !ptc_view_sources_note(s->sources, s->d, s->texts, item, ip, p.source))
		return UINT32_MAX;
	number = ptc_number_append(&s->index, &kind, &s->v, &s->n, &s->cap, &p);
	return number ? number : UINT32_MAX;
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
