/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/dir_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "base/err.h"

enum { VERSION_SINGLE = 0, VERSION_PARTS = 1 };

/* Returns the number of the first member that may be "data.N"; SIZE_MAX: there is none. */
static size_t first_member(const struct ptc_file *f)
{
	return ptc_manifest_find_kind(ptc_bundle_manifest(f->bundle), PTC_MEMBER_PART);
}

static unsigned int count_members(const struct ptc_file *f)
{
	const struct ptc_manifest *m = ptc_bundle_manifest(f->bundle);
	const size_t first = first_member(f);
	size_t i;

	for (i = first; i < m->n && m->members[i].kind == PTC_MEMBER_PART; i++)
		;
	return first < SIZE_MAX ? (unsigned int)(i - first) : 0;
}

/* Open "data.@i", which is a member of the bundle. */
static int open_member(const struct ptc_file *f, unsigned int i, struct ptc_part *p,
		       struct ptc_err *err)
{
	const struct ptc_cur bytes = ptc_bundle_bytes(f->bundle, first_member(f) + i);

	*p = (struct ptc_part){ .in = PTC_INPUT_INIT };
	p->in.bytes = bytes.pos;
	p->in.len = ptc_cur_left(&bytes);
	if (asprintf(&p->name, "%s/data.%u", f->name, i) < 0) {
		p->name = NULL;
		return ptc_fail_mem(err);
	}
	return 0;
}

static int open_part(struct ptc_file *f, int folder, const char *entry, struct ptc_part *p,
		     struct ptc_err *err)
{
	struct ptc_input in = PTC_INPUT_INIT;
	char *name;
	int rc;

	if (asprintf(&name, "%s/%s", f->name, entry) < 0)
		return ptc_fail_mem(err);
	rc = ptc_input_open_at(folder, entry, name, &in, err);
	if (rc) {
		free(name);
		return rc;
	}
	*p = (struct ptc_part){ .name = name, .in = in };
	return 0;
}

int ptc_folder_head(struct ptc_file *f, int folder, struct ptc_err *err)
{
	int rc = open_part(f, folder, "data", &f->parts[0], err);

	if (rc == PTC_E_NOT_EXIST)
		rc = open_part(f, folder, "header", &f->parts[0], err);
	if (rc == PTC_E_NOT_EXIST)
		rc = ptc_fail(err, PTC_E_FORMAT,
			      "cannot read '%s': it is a folder, but has no file 'data'", f->name);
	if (!rc)
		f->form = PTC_FORM_FOLDER;
	return rc;
}

/* Parse "data.12" to 12. Returns false for any other name. */
static bool part_number(const char *name, unsigned int *ret)
{
	unsigned int n = 0;

	if (strncmp(name, "data.", 5) != 0)
		return false;
	name += 5;
	if (!*name || (*name == '0' && name[1]))
		return false;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || n > PTC_LIMIT_PARTS)
			return false;
		n = 10 * n + (unsigned int)(*name - '0');
	}
	*ret = n;
	return true;
}

/* Get the number of parts: the highest number plus one. */
static int count_parts(const struct ptc_file *f, int folder, unsigned int *ret, struct ptc_err *err)
{
	const int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;
	unsigned int n;

	*ret = 0;
	if (folder < 0) {
		*ret = count_members(f);
		return 0;
	}
	if (!dir) {
		const int sys = errno;

		if (fd >= 0)
			(void)close(fd);
		return ptc_fail_sys(err, sys, "cannot read '%s'", f->name);
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses the stream */
	while ((d = readdir(dir)))
		if (part_number(d->d_name, &n) && n >= *ret)
			*ret = n + 1;
	(void)closedir(dir);
	if (*ret > PTC_LIMIT_PARTS)
		return ptc_fail(err, PTC_E_LIMIT, "cannot read '%s': it has more than %u files",
				f->name, PTC_LIMIT_PARTS);
	return 0;
}

static int open_parts(struct ptc_file *f, int folder, unsigned int n, struct ptc_err *err)
{
	struct ptc_part *parts = reallocarray(f->parts, n + (size_t)1, sizeof(*parts));
	unsigned int i;
	char entry[32];

	if (!parts)
		return ptc_fail_mem(err);
	f->parts = parts;
	for (i = 0; i < n; i++) {
		struct ptc_part *p = &f->parts[f->nparts];
		int rc;

		(void)snprintf(entry, sizeof(entry), "data.%u", i);
		rc = folder < 0 ? open_member(f, i, p, err) : open_part(f, folder, entry, p, err);
		if (rc == PTC_E_NOT_EXIST && f->tolerant) {
			(void)ptc_fail(err, PTC_E_FORMAT, "%s is missing", entry);
			(void)ptc_file_damaged(f, err);
			*p = (struct ptc_part){ .name = strdup(entry), .in = PTC_INPUT_INIT };
			p->in.bytes = (const uint8_t *)"";
			rc = p->name ? 0 : ptc_fail_mem(err);
		}
		if (rc)
			return rc;
		p->data.size = p->in.len;
		f->nparts++;
	}
	return 0;
}

int ptc_folder_parts(struct ptc_file *f, int folder, struct ptc_err *err)
{
	/* If the writer was killed there is no DIR_FORMAT: then the existing files count. */
	uint64_t version = f->ndamage ? VERSION_PARTS : VERSION_SINGLE;
	unsigned int n = 0;
	struct ptc_cur c;
	int rc;

	if (ptc_file_feature(f, PTC_FEAT_DIR_FORMAT, &c, NULL) && !ptc_cur_le64(&c, &version))
		return ptc_fail(err, PTC_E_FORMAT,
				"cannot read '%s': feature DIR_FORMAT is too short",
				f->parts[0].name);
	if (version == VERSION_SINGLE) {
		struct ptc_err ignored;

		(void)count_parts(f, folder, &f->unread_parts, &ignored);
		return 0;
	}
	if (version != VERSION_PARTS)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot read '%s': folder format %" PRIu64 " is not supported",
				f->name, version);
	rc = count_parts(f, folder, &n, err);
	return rc ? rc : open_parts(f, folder, n, err);
}
