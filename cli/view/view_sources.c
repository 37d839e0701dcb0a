/* SPDX-License-Identifier: MIT */
#include "cli/view/view_sources.h"

#include <stdlib.h>

#include "base/grow.h"
#include "cli/common/source_file.h"
#include "ptcap/lookup.h"

void ptc_view_sources_release(struct ptc_view_sources *s)
{
	free(s->folders);
	*s = (struct ptc_view_sources){ .n = 0 };
}

bool ptc_view_sources_note(struct ptc_view_sources *s, struct ptc_decode *d,
			   struct ptc_names *texts, const struct ptc_item *item, uint64_t ip,
			   uint32_t source)
{
	uint32_t folder;

	if (!s->wanted || !source || (source < s->n && s->folders[source]))
		return true;
	folder = ptc_names_get(texts, ptc_decode_source_folder(d, item, ip));
	if (folder == UINT32_MAX ||
	    !ptc_grow(&s->folders, &s->cap, (size_t)source + 1, sizeof(*s->folders)))
		return false;
	while (s->n <= source)
		s->folders[s->n++] = 0;
	s->folders[source] = folder + 1;
	return true;
}

bool ptc_view_sources_read(const struct ptc_view_sources *s, const struct ptc_names *texts,
			   const char *symfs, uint32_t source, size_t *left, struct ptc_buf *ret)
{
	struct stat st;

	if (source >= s->n || !s->folders[source] ||
	    !ptc_source_file_read(symfs, ptc_names_of(texts, s->folders[source] - 1),
				  ptc_names_of(texts, source), ret, &st) ||
	    ret->len > *left)
		return false;
	*left -= ret->len;
	return true;
}
