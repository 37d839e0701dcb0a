/* SPDX-License-Identifier: MIT */
#include "decode/crash/signature_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * A stack that is used up: a function with so many frames has used it up. A function that comes
 * again, with at least an eighth of these frames, is in the same circle.
 */
enum { RECURSION_MIN = 3, CIRCLE_SHARE = 8 };

static const size_t no_group = SIZE_MAX;

size_t ptc_signature_list_intern(struct ptc_signature_list *l, char *text)
{
	size_t i;

	if (!text)
		return SIZE_MAX;
	for (i = 0; i < l->n; i++)
		if (!strcmp(l->items[i].text, text)) {
			free(text);
			return i;
		}
	if (!ptc_grow(&l->items, &l->cap, l->n + 1, sizeof(*l->items))) {
		free(text);
		return SIZE_MAX;
	}
	l->items[l->n++] = (struct ptc_signature_item){ text, no_group, 0 };
	return i;
}

void ptc_signature_list_append(struct ptc_signature_list *l, size_t item)
{
	struct ptc_signature_item *f = &l->items[item];
	size_t i, to;

	f->times++;
	if (f->group == no_group) {
		f->group = l->ngroups++;
		return;
	}
	/* All functions since its last frame are in a circle with it. The innermost stays first. */
	to = f->group ? f->group : 1;
	if (l->ngroups <= to + 1)
		return;
	for (i = 0; i < l->n; i++)
		if (l->items[i].group > to && l->items[i].group != no_group)
			l->items[i].group = to;
	l->ngroups = to + 1;
}

static int by_group(const void *a, const void *b)
{
	const struct ptc_signature_item *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Leave only functions with at least @min frames. */
static void keep_frequent(struct ptc_signature_list *l, size_t min)
{
	size_t n = 0, i;

	for (i = 0; i < l->n; i++)
		if (l->items[i].times >= min)
			l->items[n++] = l->items[i];
		else
			free(l->items[i].text);
	l->n = n;
}

/* Leave only the functions of the recursion, if there is one. */
static void keep_circle(struct ptc_signature_list *l)
{
	size_t most = 0, min, i;

	for (i = 0; i < l->n; i++)
		most = l->items[i].times > most ? l->items[i].times : most;
	if (most < RECURSION_MIN)
		return;
	min = (most + CIRCLE_SHARE - 1) / CIRCLE_SHARE;
	keep_frequent(l, min > 2 ? min : 2);
	for (i = 0; i < l->n; i++)
		l->items[i].group = 0;
}

void ptc_signature_list_finish(struct ptc_signature_list *l, bool overflow)
{
	keep_frequent(l, 1); /* a function without a frame was only looked up */
	if (overflow)
		keep_circle(l);
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), by_group);
}

void ptc_signature_list_release(struct ptc_signature_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->items[i].text);
	free(l->items);
	*l = (struct ptc_signature_list){ .n = 0 };
}
