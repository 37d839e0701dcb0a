/* SPDX-License-Identifier: MIT */
#include "decode/symbols/ambiguous_symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

enum { LISTED = 4 }; /* in a message, which has no space for all */

void ptc_homonyms_release(struct ptc_homonyms *h)
{
	free(h->items);
	memset(h, 0, sizeof(*h));
}

bool ptc_homonyms_add(struct ptc_homonyms *h, const struct ptc_homonym *one)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		if (h->items[i].addr != one->addr)
			continue;
		h->items[i].global |= one->global;
		if (h->items[i].size < one->size)
			h->items[i].size = one->size;
		return true;
	}
	if (!ptc_grow(&h->items, &h->cap, h->n + 1, sizeof(*h->items)))
		return false;
	h->items[h->n++] = *one;
	return true;
}

static int by_addr(const void *pa, const void *pb)
{
	const struct ptc_homonym *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int several(const struct ptc_homonyms *h, const char *where, const char *name,
		   const char *hint, struct ptc_err *err)
{
	char list[160];
	size_t i, at = 0;

	for (i = 0; i < h->n && i < LISTED; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s#%zu 0x%" PRIx64 "%s",
				       i ? ", " : "", i + 1, h->items[i].addr,
				       h->items[i].global ? " (global)" : "");
	return ptc_fail(err, PTC_E_USAGE, "%zu functions '%s' in %s: %s%s; %s", h->n, name, where,
			list, h->n > LISTED ? ", ..." : "", hint);
}

int ptc_homonyms_choose(struct ptc_homonyms *h, int which, const char *where, const char *name,
			const char *hint, struct ptc_homonym *ret, struct ptc_err *err)
{
	const struct ptc_homonym *found = NULL;
	size_t i, n = 0;

	if (!h->n)
		return ptc_fail(err, PTC_E_NOT_EXIST, "no function '%s' in %s", name, where);
	qsort(h->items, h->n, sizeof(*h->items), by_addr);
	for (i = 0; i < h->n; i++) {
		if (which > 0 ? i + 1 != (size_t)which :
				which == PTC_WHICH_GLOBAL && !h->items[i].global)
			continue;
		found = &h->items[i];
		n++;
	}
	if (n > 1)
		return several(h, where, name, hint, err);
	if (!found)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				which > 0 ? "no function '%s#%d' in %s, which has only %zu" :
					    "no global function '%s' (#%d) in %s: %zu local",
				name, which, where, h->n);
	*ret = *found;
	return 0;
}
