/* SPDX-License-Identifier: MIT */
#include "cli/common/string_pool.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "ptcap/lookup.h"

struct ptc_name {
	uint32_t number;
	char text[];
};

static int by_text(const void *a, const void *b)
{
	const struct ptc_name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static struct ptc_name *new_name(const char *s)
{
	const size_t len = strlen(s) + 1;
	struct ptc_name *name = malloc(sizeof(*name) + len);

	if (name)
		memcpy(name->text, s, len);
	return name;
}

/* Add a name that is already in the tree. */
static bool assign_name_number(struct ptc_names *t, struct ptc_name *name)
{
	void *v = t->v;

	if (!ptc_vec_reserve(&v, &t->cap, t->n + 1, sizeof(*t->v)))
		return false;
	t->v = v;
	t->v[t->n++].name = name;
	name->number = (uint32_t)t->n;
	t->bytes += strlen(name->text);
	return true;
}

uint32_t ptc_names_get(struct ptc_names *t, const char *s)
{
	struct ptc_name *name, **found;

	if (!s)
		return 0;
	name = new_name(s);
	found = name ? tsearch(name, &t->tree, by_text) : NULL;
	if (!found) {
		free(name);
		return UINT32_MAX;
	}
	if (*found != name) {
		free(name);
		return (*found)->number;
	}
	if (assign_name_number(t, name))
		return name->number;
	(void)tdelete(name, &t->tree, by_text);
	free(name);
	return UINT32_MAX;
}

uint32_t ptc_names_get_file_id(struct ptc_names *t, const struct ptc_decode *d,
			       const struct ptc_item *it, uint64_t ip)
{
	char hex[2 * PTC_BUILD_ID_MAX + 1];
	struct ptc_build_id id;

	if (!ptc_decode_file_id(d, it, ip, &id))
		return 0;
	ptc_build_id_hex(&id, hex);
	return ptc_names_get(t, hex);
}

const char *ptc_names_of(const struct ptc_names *t, uint32_t number)
{
	return number ? t->v[number - 1].name->text : NULL;
}

int ptc_names_compare(const struct ptc_names *t, uint32_t a, uint32_t b)
{
	if (a == b || !a || !b)
		return (a > b) - (a < b);
	return strcmp(ptc_names_of(t, a), ptc_names_of(t, b));
}

void ptc_names_release(struct ptc_names *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		(void)tdelete(t->v[i].name, &t->tree, by_text);
		free(t->v[i].name);
	}
	free(t->v);
	*t = (struct ptc_names){ .n = 0 };
}
