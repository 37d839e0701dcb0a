/* SPDX-License-Identifier: MIT */
#include "cli/common/raw_args.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"

bool ptc_take_raw(const char *s, void *list)
{
	struct ptc_raw_list *l = list;
	struct ptc_raw_code c = { .len = 0 }, *raw;
	char *path = strdup(s), *at = path ? strrchr(path, '@') : NULL;

	if (!at || at == path)
		goto bad;
	*at++ = '\0';
	if (!ptc_cut_number(&at, ':', &c.addr) || (at && !ptc_cut_number(&at, ':', &c.off)) ||
	    (at && (!ptc_cut_number(&at, ':', &c.len) || !c.len || at)))
		goto bad;
	c.path = path;
	raw = reallocarray(l->v, l->n + 1, sizeof(*raw));
	if (!raw)
		goto bad;
	l->v = raw;
	l->v[l->n++] = c;
	return true;
bad:
	free(path);
	return false;
}

void ptc_raw_list_release(struct ptc_raw_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free((char *)(uintptr_t)l->v[i].path);
	free(l->v);
	*l = (struct ptc_raw_list){ .n = 0 };
}
