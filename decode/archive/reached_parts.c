/* SPDX-License-Identifier: MIT */
#include "decode/archive/reached_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "decode/archive/kept_parts.h"
#include "decode/image/codefile.h"
#include "decode/image/used_pages.h"
#include "decode/session/decoder.h"
#include "ptcap/error.h"

bool ptc_reached_parts_begin(struct ptc_decode *d)
{
	return ptc_used_pages_begin(&d->in.origin.files);
}

/* Do @a and @b become one member? A recording can have several names for one file. */
static bool is_same_member(const struct ptc_codefile *a, const struct ptc_codefile *b)
{
	return a == b || (a->id.len && b->from == PTC_CODE_FILE && a->len == b->len &&
			  ptc_build_id_same(&a->id, &b->id));
}

/* Returns the used pages of all objects for the file of @f, owned by the caller. */
static uint64_t *used_pages(const struct ptc_codefile *f)
{
	const size_t n = ptc_used_pages_words(f->len);
	uint64_t *ret = calloc(n, sizeof(*ret));
	size_t i, k;

	for (i = 0; ret && i < f->store->n; i++) {
		const struct ptc_codefile *other = f->store->files[i];

		for (k = 0; k < n && other->used_pages && is_same_member(f, other); k++)
			ret[k] |= other->used_pages[k];
	}
	return ret;
}

int ptc_reached_parts(const struct ptc_codefile *f, int fd, bool unwinds, const char *name,
		      struct ptc_partial **ret)
{
	uint64_t *pages = f ? used_pages(f) : NULL;
	const struct ptc_kept_wanted wanted = {
		.pages = pages,
		.npages = f ? f->len / PTC_KEPT_PAGE + 1 : 0,
		.unwinds = unwinds,
	};
	struct stat st;
	int rc;

	if ((f && !pages) || fstat(fd, &st)) {
		free(pages);
		return PTC_E_NO_MEMORY;
	}
	rc = ptc_kept_parts(fd, (uint64_t)st.st_size, name, &wanted, ret);
	free(pages);
	return rc;
}
