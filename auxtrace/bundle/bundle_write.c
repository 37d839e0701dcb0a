/* SPDX-License-Identifier: MIT */
#include "auxtrace/bundle/bundle_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/bundle/archive_library.h"
#include "auxtrace/bundle/bundle.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/tmpfile.h"

enum { COPY_SIZE = 1 << 16, FILLED_MAX = 64 << 20 };

static void release_source(const struct ptc_bundle_source *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s->owned);
	ptc_partial_free(s->parts);
}

void ptc_bundle_writer_release(struct ptc_bundle_writer *w)
{
	size_t i;

	for (i = 0; i < w->manifest.n; i++)
		release_source(&w->sources[i]);
	free(w->sources);
	ptc_manifest_release(&w->manifest);
	*w = (struct ptc_bundle_writer){ .sources = NULL };
}

/* Receives the bytes of a source. Returns non-zero, with *err set, to stop. */
struct receiver {
	int (*put)(void *ctx, const void *bytes, size_t n, struct ptc_err *err);
	void *ctx;
};

/* Pass the file of @s to @to, up to @max bytes. */
static int pass_file(const struct ptc_bundle_source *s, uint64_t max, const struct receiver *to,
		     const char *name, struct ptc_err *err)
{
	uint8_t *chunk = malloc(COPY_SIZE);
	uint64_t off = 0;
	ssize_t n = 1;
	int rc = chunk ? 0 : ptc_fail_mem(err);

	while (!rc && n && off < max) {
		n = pread(s->fd, chunk, max - off < COPY_SIZE ? (size_t)(max - off) : COPY_SIZE,
			  (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = ptc_fail_sys(err, errno, "cannot read '%s'", name);
		if (n > 0 && s->parts)
			ptc_partial_apply(s->parts, off, chunk, (size_t)n);
		if (n > 0)
			rc = to->put(to->ctx, chunk, (size_t)n, err);
		off += n > 0 ? (uint64_t)n : 0;
	}
	free(chunk);
	return rc;
}

static int pass_bytes(const struct ptc_bundle_source *s, uint64_t max, const struct receiver *to,
		      const char *name, struct ptc_err *err)
{
	return s->fd >= 0 ? pass_file(s, max, to, name, err) :
			    to->put(to->ctx, s->bytes.pos, ptc_cur_left(&s->bytes), err);
}

/* --- adding --- */

static int put_sum(void *ctx, const void *bytes, size_t n, struct ptc_err *err)
{
	(void)err;
	ptc_sha256_put(ctx, bytes, n);
	return 0;
}

/* Compute the size and the sum of @source for @m. */
static int measure_source(const struct ptc_bundle_source *source, struct ptc_member *m,
			  const char *name, struct ptc_err *err)
{
	struct ptc_sha256 sum;
	const struct receiver to = { put_sum, &sum };
	int rc;

	ptc_sha256_init(&sum);
	rc = pass_bytes(source, PTC_MANIFEST_BYTES + 1, &to, name, err);
	if (rc)
		return rc;
	m->size = sum.len;
	ptc_sha256_finish(&sum, m->sha256);
	return m->size <= PTC_MANIFEST_BYTES ?
		       0 :
		       ptc_fail(err, PTC_E_LIMIT, "'%s' has more than %" PRIu64 " bytes", name,
				PTC_MANIFEST_BYTES);
}

static bool is_listed(const struct ptc_manifest *manifest, const struct ptc_member *m)
{
	return m->id.len ? ptc_manifest_find_id(manifest, m->kind, &m->id) < SIZE_MAX :
	       m->path	 ? ptc_manifest_find_path(manifest, m->kind, m->path) < SIZE_MAX :
			   false;
}

/* As ptc_bundle_writer_add, but @source stays the caller's unless 0 is returned. */
static int add_source(struct ptc_bundle_writer *w, const struct ptc_member *member,
		      const struct ptc_bundle_source *source, const char *name, struct ptc_err *err)
{
	struct ptc_member m = *member;
	int rc;

	if (is_listed(&w->manifest, member))
		return 1;
	rc = measure_source(source, &m, name, err);
	if (!rc && !ptc_grow(&w->sources, &w->cap, w->manifest.n + 1, sizeof(*w->sources)))
		rc = ptc_fail_mem(err);
	if (rc)
		return rc;
	rc = ptc_manifest_add(&w->manifest, &m, err);
	if (rc)
		return ptc_err_prefix(err, "cannot add '%s': ", name);
	w->sources[w->manifest.n - 1] = *source;
	return 0;
}

int ptc_bundle_writer_add(struct ptc_bundle_writer *w, const struct ptc_member *member,
			  const struct ptc_bundle_source *source, const char *name,
			  struct ptc_err *err)
{
	const int rc = add_source(w, member, source, name, err);

	if (rc)
		release_source(source);
	return rc;
}

/* --- writing --- */

struct bundle_output {
	struct archive *archive;
	const char *path;
	struct ptc_sha256 sum; /* of the current member */
	uint64_t unpacked;     /* bytes of all members */
	uint64_t missing;      /* bytes of the current member that are not yet written */
};

static int fail_output(const struct bundle_output *o, struct ptc_err *err)
{
	const char *text = ptc_la.archive_error_string(o->archive);

	if (ptc_la.archive_errno(o->archive) == ENOMEM)
		return ptc_fail_mem(err);
	return ptc_fail(err, PTC_E_IO, "cannot write '%s': %s", o->path,
			text ? text : "unknown failure");
}

static int put_output(void *ctx, const void *bytes, size_t n, struct ptc_err *err)
{
	struct bundle_output *o = ctx;
	const uint8_t *p = bytes;
	la_ssize_t done;

	ptc_sha256_put(&o->sum, bytes, n);
	o->unpacked += n;
	o->missing -= n < o->missing ? n : o->missing;
	for (; n; p += done, n -= (size_t)done) {
		done = ptc_la.archive_write_data(o->archive, p, n);
		if (done <= 0)
			return fail_output(o, err);
	}
	return 0;
}

/* Write the header of a regular file. All bundles of the same files are equal: no times, no owner.
 */
static int put_header(struct bundle_output *o, const char *name, uint64_t size, struct ptc_err *err)
{
	struct archive_entry *e = ptc_la.archive_entry_new();
	int r;

	if (!e)
		return ptc_fail_mem(err);
	ptc_la.archive_entry_set_pathname(e, name);
	ptc_la.archive_entry_set_filetype(e, AE_IFREG);
	ptc_la.archive_entry_set_perm(e, 0600);
	ptc_la.archive_entry_set_size(e, (la_int64_t)size);
	ptc_la.archive_entry_set_mtime(e, 0, 0);
	o->missing = size;
	r = ptc_la.archive_write_header(o->archive, e);
	ptc_la.archive_entry_free(e);
	return r == ARCHIVE_OK ? 0 : fail_output(o, err);
}

static int put_source(struct bundle_output *o, const struct ptc_bundle_writer *w, size_t i,
		      struct ptc_err *err)
{
	const struct ptc_member *m = &w->manifest.members[i];
	const struct receiver to = { put_output, o };
	char name[PTC_MANIFEST_NAME_SIZE];
	uint8_t sum[PTC_SHA256_SIZE];
	int rc;

	ptc_manifest_name(&w->manifest, i, name);
	rc = put_header(o, name, m->size, err);
	ptc_sha256_init(&o->sum);
	if (!rc)
		rc = pass_bytes(&w->sources[i], m->size, &to, m->path ? m->path : name, err);
	if (rc)
		return rc;
	ptc_sha256_finish(&o->sum, sum);
	return memcmp(sum, m->sha256, sizeof(sum)) != 0 ?
		       ptc_fail(err, PTC_E_IO, "'%s' changed while it was read",
				m->path ? m->path : name) :
		       0;
}

static int put_manifest(struct bundle_output *o, const struct ptc_manifest *m, struct ptc_err *err)
{
	struct ptc_buf text = PTC_BUF_INIT;
	int rc = ptc_manifest_print(m, &text, err);

	if (!rc && text.len > PTC_MANIFEST_MAX)
		rc = ptc_fail(err, PTC_E_LIMIT, "the manifest has more than %d bytes",
			      PTC_MANIFEST_MAX);
	if (!rc)
		rc = put_header(o, PTC_MANIFEST_NAME, text.len, err);
	if (!rc)
		rc = put_output(o, text.bytes, text.len, err);
	ptc_buf_release(&text);
	return rc;
}

static int begin_archive(struct bundle_output *o, int fd, unsigned int level, struct ptc_err *err)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", level);
	if (ptc_la.archive_write_add_filter_zstd(o->archive) != ARCHIVE_OK ||
	    ptc_la.archive_write_set_filter_option(o->archive, "zstd", "compression-level", text) !=
		    ARCHIVE_OK ||
	    ptc_la.archive_write_set_format_pax_restricted(o->archive) != ARCHIVE_OK ||
	    ptc_la.archive_write_set_bytes_in_last_block(o->archive, 1) != ARCHIVE_OK ||
	    ptc_la.archive_write_open_fd(o->archive, fd) != ARCHIVE_OK)
		return fail_output(o, err);
	return 0;
}

static int put_archive(struct bundle_output *o, const struct ptc_bundle_writer *w, int fd,
		       unsigned int level, struct ptc_err *err)
{
	int rc = begin_archive(o, fd, level, err);
	size_t i;

	if (!rc)
		rc = put_manifest(o, &w->manifest, err);
	for (i = 0; i < w->manifest.n && !rc; i++)
		rc = put_source(o, w, i, err);
	if (!rc && ptc_la.archive_write_close(o->archive) != ARCHIVE_OK)
		rc = fail_output(o, err);
	return rc;
}

/* Returns PTC_E_LIMIT if the reader would take the bundle for a decompression bomb. */
static int check_size(const struct bundle_output *o, uint64_t packed, struct ptc_err *err)
{
	/* A header per member, and the end. */
	const uint64_t extra = (uint64_t)(PTC_MANIFEST_MEMBERS + 64) * 1024;
	const uint64_t unpacked = o->unpacked + extra;

	if (unpacked > PTC_MANIFEST_BYTES)
		return ptc_fail(err, PTC_E_LIMIT,
				"the files for '%s' have more than %" PRIu64 " bytes", o->path,
				PTC_MANIFEST_BYTES);
	if (unpacked > PTC_BUNDLE_FREE && unpacked / PTC_BUNDLE_RATIO > packed)
		return ptc_fail(err, PTC_E_LIMIT,
				"the files for '%s' pack by more than %" PRIu64
				" to 1, which no reader accepts",
				o->path, PTC_BUNDLE_RATIO);
	return 0;
}

int ptc_bundle_write(struct ptc_bundle_writer *w, const char *output, unsigned int level,
		     struct ptc_err *err)
{
	struct bundle_output o = { .path = output };
	struct ptc_tmpfile tmp = PTC_TMPFILE_INIT;
	struct stat st;
	int rc = ptc_bundle_load_library(err);

	if (!rc)
		rc = ptc_tmpfile_open(&tmp, output, err);
	if (rc)
		return rc;
	o.archive = ptc_la.archive_write_new();
	rc = o.archive ? put_archive(&o, w, tmp.fd, level, err) : ptc_fail_mem(err);
	if (!rc && fstat(tmp.fd, &st))
		rc = ptc_fail_sys(err, errno, "cannot write '%s'", output);
	if (!rc)
		rc = check_size(&o, (uint64_t)st.st_size, err);
	if (!rc)
		w->written = (uint64_t)st.st_size;
	if (o.archive) {
		/* At its end libarchive fills a cut member with zeros. Without its end it leaks. */
		if (o.missing > FILLED_MAX)
			(void)ptc_la.archive_write_fail(o.archive);
		(void)ptc_la.archive_write_free(o.archive);
	}
	if (!rc)
		rc = ptc_tmpfile_commit(&tmp, err);
	ptc_tmpfile_release(&tmp);
	return rc;
}
