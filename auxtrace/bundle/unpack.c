/* SPDX-License-Identifier: MIT */
/*
 * libarchive reads the archive in two steps. The first only unpacks zstd. Its output is counted, so
 * that headers and padding count too, then the second reads it as tar. Filters and the format are
 * fixed: libarchive must not guess a second packing inside the first.
 */
#include "auxtrace/bundle/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "auxtrace/bundle/archive_library.h"
#include "base/err.h"
#include "ptcap/bundle.h"

enum {
	CHUNK = 1 << 16,
	PADDING_MAX = 1 << 16, /* zeros behind the archive: tar(1) writes records of 10 KiB */
};

struct ptc_unpack {
	struct archive *packed;	     /* owned; the stream of zstd */
	struct archive *tar;	     /* owned; reads the output of packed */
	struct archive_entry *entry; /* lent; the current member */
	uint64_t taken, max;	     /* unpacked bytes */
	size_t last;		     /* bytes of chunk */
	uint8_t chunk[CHUNK];	     /* the last unpacked bytes */
	struct ptc_err why;	     /* code 0, or why no more can be unpacked */
};

static int fail_archive(struct archive *a, struct ptc_err *err)
{
	const char *text = ptc_la.archive_error_string(a);

	return ptc_fail(err, ptc_la.archive_errno(a) == ENOMEM ? PTC_E_NO_MEMORY : PTC_E_FORMAT,
			"%s", text ? text : "the archive is damaged");
}

/* Unpack the next chunk. Returns its length, or a negative code with u->why set. */
static la_ssize_t unpack_chunk(struct ptc_unpack *u)
{
	const la_ssize_t n = ptc_la.archive_read_data(u->packed, u->chunk, sizeof(u->chunk));

	if (n < 0)
		return fail_archive(u->packed, &u->why);
	u->last = (size_t)n;
	u->taken += (uint64_t)n;
	if (u->taken > u->max)
		return ptc_fail(&u->why, PTC_E_LIMIT, "it unpacks to more than %" PRIu64 " bytes",
				u->max);
	return n;
}

static la_ssize_t read_unpacked(struct archive *a, void *ctx, const void **ret)
{
	struct ptc_unpack *u = ctx;
	const la_ssize_t n = unpack_chunk(u);

	*ret = u->chunk;
	if (n >= 0)
		return n;
	ptc_la.archive_set_error(a, EIO, "%s", u->why.msg);
	return ARCHIVE_FATAL;
}

/* Report the failure of the inner stream, or of tar itself. */
static int fail_tar(struct ptc_unpack *u, struct ptc_err *err)
{
	if (!u->why.code)
		return fail_archive(u->tar, err);
	*err = u->why;
	return err->code;
}

static int open_packed_stream(struct ptc_unpack *u, const void *bytes, size_t len,
			      struct ptc_err *err)
{
	struct archive_entry *whole;

	if (ptc_la.archive_read_append_filter(u->packed, ARCHIVE_FILTER_ZSTD) != ARCHIVE_OK ||
	    ptc_la.archive_read_support_format_raw(u->packed) != ARCHIVE_OK ||
	    ptc_la.archive_read_open_memory(u->packed, bytes, len) != ARCHIVE_OK)
		return fail_archive(u->packed, err);
	switch (ptc_la.archive_read_next_header(u->packed, &whole)) {
	case ARCHIVE_OK:
		return 0;
	case ARCHIVE_EOF:
		return ptc_fail(err, PTC_E_FORMAT, "it is empty");
	default:
		return fail_archive(u->packed, err);
	}
}

int ptc_unpack_new(const void *bytes, size_t len, uint64_t max, struct ptc_unpack **ret,
		   struct ptc_err *err)
{
	struct ptc_unpack *u = calloc(1, sizeof(*u));
	int rc;

	*ret = u;
	if (!u)
		return ptc_fail_mem(err);
	u->max = max;
	rc = ptc_bundle_load_library(err);
	if (rc)
		return rc;
	u->packed = ptc_la.archive_read_new();
	u->tar = ptc_la.archive_read_new();
	if (!u->packed || !u->tar)
		return ptc_fail_mem(err);
	rc = open_packed_stream(u, bytes, len, err);
	if (rc)
		return rc;
	if (ptc_la.archive_read_support_format_tar(u->tar) != ARCHIVE_OK ||
	    ptc_la.archive_read_open(u->tar, u, NULL, read_unpacked, NULL) != ARCHIVE_OK)
		return fail_tar(u, err);
	return 0;
}

void ptc_unpack_free(struct ptc_unpack *u)
{
	if (!u)
		return;
	if (u->tar)
		(void)ptc_la.archive_read_free(u->tar);
	if (u->packed)
		(void)ptc_la.archive_read_free(u->packed);
	free(u);
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Check that only zeros follow the end of the archive. */
static int check_end(struct ptc_unpack *u, struct ptc_err *err)
{
	const uint64_t used = (uint64_t)ptc_la.archive_filter_bytes(u->tar, 0);
	const uint64_t rest = u->taken > used ? u->taken - used : 0;
	const size_t in_chunk = rest < u->last ? (size_t)rest : u->last;
	bool good = is_zero(u->chunk + u->last - in_chunk, in_chunk);
	uint64_t n = rest;
	la_ssize_t r = 1;

	while (good && n <= PADDING_MAX && (r = unpack_chunk(u)) > 0) {
		good = is_zero(u->chunk, u->last);
		n += u->last;
	}
	if (r < 0) {
		*err = u->why;
		return err->code;
	}
	return good && n <= PADDING_MAX ?
		       0 :
		       ptc_fail(err, PTC_E_FORMAT, "it has more bytes behind its last member");
}

int ptc_unpack_next(struct ptc_unpack *u, struct ptc_unpack_member *ret, struct ptc_err *err)
{
	const int r = ptc_la.archive_read_next_header(u->tar, &u->entry);

	if (r == ARCHIVE_EOF && !u->why.code)
		return check_end(u, err);
	if (r != ARCHIVE_OK)
		return fail_tar(u, err);
	ret->name = ptc_la.archive_entry_pathname(u->entry);
	if (!ret->name)
		return ptc_fail(err, PTC_E_FORMAT, "a member has no name");
	if (ptc_la.archive_entry_filetype(u->entry) != AE_IFREG ||
	    ptc_la.archive_entry_hardlink(u->entry) || ptc_la.archive_entry_symlink(u->entry) ||
	    ptc_la.archive_entry_sparse_count(u->entry) ||
	    !ptc_la.archive_entry_size_is_set(u->entry) || ptc_la.archive_entry_size(u->entry) < 0)
		return ptc_fail(err, PTC_E_FORMAT, "the member '%s' is no regular file", ret->name);
	ret->size = (uint64_t)ptc_la.archive_entry_size(u->entry);
	return 1;
}

int ptc_unpack_data(struct ptc_unpack *u,
		    int (*put)(void *ctx, const void *bytes, size_t n, struct ptc_err *err),
		    void *ctx, struct ptc_err *err)
{
	const uint64_t size = (uint64_t)ptc_la.archive_entry_size(u->entry);
	uint64_t done = 0;
	const void *bytes;
	la_int64_t off;
	size_t n;
	int r, rc = 0;

	while (!rc &&
	       (r = ptc_la.archive_read_data_block(u->tar, &bytes, &n, &off)) == ARCHIVE_OK) {
		if (off < 0 || (uint64_t)off != done || n > size - done)
			return ptc_fail(err, PTC_E_FORMAT, "a member has holes");
		done += n;
		rc = n ? put(ctx, bytes, n, err) : 0;
	}
	if (rc)
		return rc;
	if (r != ARCHIVE_EOF || u->why.code)
		return fail_tar(u, err);
	return done == size ? 0 : ptc_fail(err, PTC_E_FORMAT, "a member is cut off");
}
