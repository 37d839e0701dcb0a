/* SPDX-License-Identifier: MIT */
#include "cli/decode/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int by_ran(const void *a, const void *b)
{
	const struct ptc_coverage_file *x = a, *y = b;

	if (x->ran != y->ran)
		return x->ran > y->ran ? -1 : 1;
	return strcmp(x->name, y->name);
}

bool ptc_coverage_make(struct ptc_coverage *v, const struct ptc_counts *c)
{
	struct ptc_coverage_file *f = NULL;
	size_t i;

	*v = (struct ptc_coverage){ .n = 0 };
	for (i = 0; i < c->n; i++) {
		const struct ptc_counts_entry *e = &c->entries[i];

		if (!f || e->from.file != f->lines->from.file) {
			if (!ptc_grow(&v->files, &v->cap, v->n + 1, sizeof(*v->files)))
				return false;
			f = &v->files[v->n++];
			*f = (struct ptc_coverage_file){ ptc_names_of(&c->names, e->from.file), e,
							 0, 0 };
		}
		f->n++;
		f->ran += e->times != 0;
		v->lines++;
		v->ran += e->times != 0;
	}
	if (v->n)
		qsort(v->files, v->n, sizeof(*v->files), by_ran);
	return true;
}

void ptc_coverage_release(struct ptc_coverage *v)
{
	free(v->files);
	*v = (struct ptc_coverage){ .n = 0 };
}

bool ptc_coverage_next(const struct ptc_coverage_file *f, size_t *at, struct ptc_coverage_gap *ret)
{
	size_t i = *at;

	while (i < f->n && f->lines[i].times)
		i++;
	*at = i;
	if (i == f->n)
		return false;
	ret->first = f->lines[i].from.off;
	for (; i < f->n && !f->lines[i].times; i++)
		ret->last = f->lines[i].from.off;
	*at = i;
	return true;
}
