/* SPDX-License-Identifier: MIT */
#include "decode/elf/omitted_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"

enum { MOST = 64 }; /* entries; each new one is compared with all */

void ptc_omitted_data_add(struct ptc_omitted_data *l, const char *file, const char *what,
			  uint64_t bytes)
{
	char *copy;
	size_t i;

	(void)ptc_budget_refused(); /* the refusal is reported here */
	if (!l || l->n == MOST)
		return;
	for (i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].file, file) && !strcmp(l->v[i].what, what))
			return;
	copy = strdup(file);
	if (!copy || !ptc_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v))) {
		free(copy);
		return;
	}
	l->v[l->n++] = (struct ptc_omitted_data_one){ copy, what, bytes };
}

void ptc_omitted_data_release(struct ptc_omitted_data *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].file);
	free(l->v);
	ptc_budget_drop(l->held);
	*l = (struct ptc_omitted_data){ .n = 0 };
}
