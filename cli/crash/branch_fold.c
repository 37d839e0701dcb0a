/* SPDX-License-Identifier: MIT */
#include "cli/crash/branch_fold.h"

#include <stdlib.h>
#include <string.h>

static bool begins_in_program(const struct ptc_fold_opts *o, const struct ptc_item *it)
{
	return ptc_item_has_from(it) && !o->is_library(o->ctx, it->from);
}

static bool touches_library(const struct ptc_fold_opts *o, const struct ptc_item *it)
{
	if (it->type != PTC_ITEM_BRANCH)
		return false;
	return (ptc_item_has_from(it) && o->is_library(o->ctx, it->from)) ||
	       (ptc_item_has_to(it) && o->is_library(o->ctx, it->to));
}

/* Does the older @it belong to @e? */
static bool joins(const struct ptc_fold_opts *o, const struct ptc_fold_entry *e,
		  const struct ptc_item *it, bool library)
{
	const struct ptc_item *next = e->first;

	if (it->type != PTC_ITEM_BRANCH || next->type != PTC_ITEM_BRANCH || e->library != library)
		return false;
	if (library)
		return !begins_in_program(o, next);
	return it->from == next->from && it->to == next->to && it->kind == next->kind;
}

static void reverse(struct ptc_fold *f)
{
	size_t i;

	for (i = 0; i < f->n / 2; i++) {
		const struct ptc_fold_entry e = f->entries[i];

		f->entries[i] = f->entries[f->n - 1 - i];
		f->entries[f->n - 1 - i] = e;
	}
}

bool ptc_fold_branches(const struct ptc_fold_opts *opts, struct ptc_fold *ret)
{
	const size_t most = opts->want < opts->n ? opts->want : opts->n;
	size_t i;

	*ret = (struct ptc_fold){ .entries = calloc(most + 1, sizeof(*ret->entries)) };
	if (!ret->entries)
		return false;
	for (i = opts->n; i-- > 0;) {
		const struct ptc_item *it = opts->item(opts->ctx, i);
		const bool library = touches_library(opts, it);
		struct ptc_fold_entry *e = ret->n ? &ret->entries[ret->n - 1] : NULL;

		if (e && joins(opts, e, it, library)) {
			e->first = it;
			e->n++;
			continue;
		}
		if (ret->n == most)
			break;
		ret->entries[ret->n++] = (struct ptc_fold_entry){ it, 1, library };
	}
	reverse(ret);
	return true;
}

void ptc_fold_release(struct ptc_fold *f)
{
	free(f->entries);
	*f = (struct ptc_fold){ .n = 0 };
}
