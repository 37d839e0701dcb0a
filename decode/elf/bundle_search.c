/* SPDX-License-Identifier: MIT */
#include "decode/elf/bundle_search.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"

/* Takes member @i of the bundle, recorded as @name. It must have @id, if @by_id. */
static bool take_bundled(const struct ptc_search *s, struct ptc_found *f, size_t i,
			 const char *name, const struct ptc_build_id *id, bool by_id)
{
	const struct ptc_member *m = &ptc_bundle_manifest(s->bundle)->members[i];
	const int fd = m->size ? ptc_bundle_member_fd(s->bundle, i, &f->why) : -1;
	struct ptc_build_id is;

	if (fd < 0)
		return false;
	(void)ptc_elf_build_id_fd(fd, m->size, &is);
	f->path = !by_id || ptc_build_id_same(&is, id) ? strdup(name) : NULL;
	if (!f->path) {
		(void)close(fd);
		return false;
	}
	f->fd = fd;
	f->len = m->size;
	f->assumed = !id->len;
	f->bundled = true;
	f->member = i;
	return true;
}

bool ptc_search_bundle(const struct ptc_search *s, struct ptc_found *f, enum ptc_member_kind kind,
		       const char *name, const struct ptc_build_id *id)
{
	const struct ptc_manifest *m = s->bundle ? ptc_bundle_manifest(s->bundle) : NULL;
	size_t i;

	if (!m)
		return false;
	i = id->len ? ptc_manifest_find_id(m, kind, id) : ptc_manifest_find_path(m, kind, name);
	return i < SIZE_MAX && take_bundled(s, f, i, name, id, id->len && kind != PTC_MEMBER_DEBUG);
}
