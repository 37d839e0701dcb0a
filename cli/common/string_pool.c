/* SPDX-License-Identifier: MIT */
#include "cli/common/string_pool.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

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

const char *ptc_names_of(const struct ptc_names *t, uint32_t number)
{
	return number ? t->v[number - 1].name->text : NULL;
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
