/* SPDX-License-Identifier: MIT */
#include "cli/sum/joined_places.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/sum/sum_json.h"

int ptc_joined_sources_add(struct ptc_joined_sources *s, struct ptc_names *names,
			   const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *file;
	uint32_t name;
	const int rc = ptc_sum_json_text(l, l->json, "file", &file, err);

	if (rc)
		return rc;
	name = ptc_names_get(names, file);
	if (name == UINT32_MAX || !ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return ptc_fail_mem(err);
	s->v[s->n++] = name;
	return 0;
}

int ptc_joined_source(const struct ptc_joined_sources *s, const struct ptc_sum_line *l,
		      uint64_t source, uint64_t line, struct ptc_source_line *ret,
		      struct ptc_err *err)
{
	if (source > s->n || line > UINT32_MAX)
		return ptc_sum_fail(err, l,
				    "an unknown source line; the file is damaged, write it again");
	*ret = (struct ptc_source_line){ .file = source ? s->v[source - 1] : 0,
					 .line = (uint32_t)line };
	return 0;
}

/* --- places --- */

static uint64_t hash_of_place(const void *entry)
{
	const struct ptc_place_of_thread *p = entry;

	return ptc_hash_mix(ptc_hash_mix(0, (uint32_t)p->tid), p->ip);
}

static bool is_same_place(const void *entry, const void *key)
{
	const struct ptc_place_of_thread *a = entry, *b = key;

	return a->tid == b->tid && a->ip == b->ip;
}

static const struct ptc_number_kind kind = { sizeof(struct ptc_place_of_thread), hash_of_place,
					     is_same_place };

bool ptc_joined_places_note(struct ptc_joined_places *o, const struct ptc_place_of_thread *p)
{
	const uint32_t number = ptc_number_find(&o->index, &kind, o->v, p);

	if (!number)
		return ptc_number_append(&o->index, &kind, &o->v, &o->n, &o->cap, p);
	o->v[number - 1] = *p;
	return true;
}

const struct ptc_place_of_thread *ptc_joined_places_find(const struct ptc_joined_places *o,
							 int32_t tid, uint64_t ip)
{
	const struct ptc_place_of_thread key = { .tid = tid, .ip = ip };
	const uint32_t number = ptc_number_find(&o->index, &kind, o->v, &key);

	return number ? &o->v[number - 1] : NULL;
}

void ptc_joined_places_release(struct ptc_joined_places *o)
{
	free(o->v);
	free(o->index.slots);
	*o = (struct ptc_joined_places){ .n = 0 };
}
