/* SPDX-License-Identifier: MIT */
#include "auxtrace/bundle/bundle.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/bundle/unpack.h"
#include "base/err.h"
#include "base/spool.h"

static_assert((int)PTC_BUNDLE_SUM == (int)PTC_SHA256_SIZE, "a checksum has its size");

/* A member that was unpacked. */
struct unpacked_member {
	uint64_t off;	       /* in the bytes of the bundle */
	struct ptc_spool file; /* fd -1: not opened yet */
};

/* What a caller sees of a member. */
struct shown_member {
	struct ptc_bundle_member member;
	char name[PTC_MANIFEST_NAME_SIZE];
};

struct ptc_bundle {
	struct ptc_manifest manifest;
	struct unpacked_member *members; /* owned; one for each of the manifest */
	struct shown_member *shown;	 /* owned; the same */
	struct ptc_spool spool;		 /* all members, in sequence */
	const uint8_t *bytes;
	pthread_mutex_t lock; /* of members[].file */
};

bool ptc_bundle_is(const void *bytes, size_t len)
{
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd }; /* RFC 8878, 3.1.1 */

	return len && !memcmp(bytes, zstd, len < sizeof(zstd) ? len : sizeof(zstd));
}

/* --- unpacking --- */

static int append_manifest_text(void *ctx, const void *bytes, size_t n, struct ptc_err *err)
{
	ptc_buf_put(ctx, bytes, n);
	return ptc_buf_failed(ctx) ? ptc_fail_mem(err) : 0;
}

static int read_manifest(struct ptc_bundle *b, struct ptc_unpack *u, struct ptc_err *err)
{
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_unpack_member member;
	int r = ptc_unpack_next(u, &member, err);

	if (r < 0)
		return r;
	if (!r || strcmp(member.name, PTC_MANIFEST_NAME) != 0)
		return ptc_fail(err, PTC_E_FORMAT,
				"its first member is not '" PTC_MANIFEST_NAME "'");
	if (member.size > PTC_MANIFEST_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "the manifest has more than %d bytes",
				PTC_MANIFEST_MAX);
	r = ptc_unpack_data(u, append_manifest_text, &text, err);
	if (!r)
		r = ptc_manifest_parse(text.bytes, text.len, &b->manifest, err);
	ptc_buf_release(&text);
	return r;
}

/* The member that is being unpacked. */
struct taking {
	struct ptc_spool *spool;
	struct ptc_sha256 sum;
};

static int put_member(void *ctx, const void *bytes, size_t n, struct ptc_err *err)
{
	struct taking *t = ctx;

	ptc_sha256_put(&t->sum, bytes, n);
	return ptc_spool_put(t->spool, bytes, n, err);
}

static int take_member(struct ptc_bundle *b, struct ptc_unpack *u, size_t i, struct ptc_err *err)
{
	const struct ptc_member *m = &b->manifest.members[i];
	struct taking taking = { .spool = &b->spool };
	struct ptc_unpack_member is;
	char name[PTC_MANIFEST_NAME_SIZE];
	uint8_t sum[PTC_SHA256_SIZE];
	int r = ptc_unpack_next(u, &is, err);

	if (r < 0)
		return r;
	ptc_manifest_name(&b->manifest, i, name);
	if (!r)
		return ptc_fail(err, PTC_E_FORMAT, "the member '%s' of the manifest is missing",
				name);
	if (strcmp(is.name, name) != 0)
		return ptc_fail(err, PTC_E_FORMAT,
				"it has the member '%s' where the manifest lists '%s'", is.name,
				name);
	if (is.size != m->size)
		return ptc_fail(err, PTC_E_FORMAT,
				"the member '%s' has %" PRIu64
				" bytes, the manifest lists %" PRIu64,
				name, is.size, m->size);
	b->members[i].off = b->spool.len;
	ptc_sha256_init(&taking.sum);
	r = ptc_unpack_data(u, put_member, &taking, err);
	if (r)
		return r;
	ptc_sha256_finish(&taking.sum, sum);
	return memcmp(sum, m->sha256, sizeof(sum)) != 0 ?
		       ptc_fail(err, PTC_E_FORMAT, "the member '%s' does not have its checksum",
				name) :
		       0;
}

static bool show_members(struct ptc_bundle *b)
{
	size_t i;

	b->shown = calloc(b->manifest.n, sizeof(*b->shown));
	for (i = 0; b->shown && i < b->manifest.n; i++) {
		const struct ptc_member *m = &b->manifest.members[i];
		struct shown_member *s = &b->shown[i];

		ptc_manifest_name(&b->manifest, i, s->name);
		s->member = (struct ptc_bundle_member){ .kind = m->kind,
							.name = s->name,
							.path = m->path,
							.id = m->id,
							.size = m->size,
							.sha256 = m->sha256,
							.partial = m->partial };
	}
	return b->shown;
}

static int take_members(struct ptc_bundle *b, struct ptc_unpack *u, struct ptc_err *err)
{
	struct ptc_unpack_member more = { .name = NULL };
	size_t i;
	int r = read_manifest(b, u, err);

	if (r)
		return r;
	b->members = calloc(b->manifest.n, sizeof(*b->members));
	if (!b->members || !show_members(b))
		return ptc_fail_mem(err);
	for (i = 0; i < b->manifest.n; i++)
		b->members[i].file = (struct ptc_spool)PTC_SPOOL_INIT;
	for (i = 0; i < b->manifest.n && !r; i++)
		r = take_member(b, u, i, err);
	if (!r)
		r = ptc_unpack_next(u, &more, err);
	if (r > 0)
		return ptc_fail(err, PTC_E_FORMAT,
				"it has the member '%s', which the manifest does not list",
				more.name);
	return r < 0 ? r : ptc_spool_finish(&b->spool, &b->bytes, err);
}

/* Returns how many bytes a bundle of @len bytes may unpack to. */
static uint64_t allowed_bytes(size_t len)
{
	const uint64_t by_ratio = len < PTC_MANIFEST_BYTES / PTC_BUNDLE_RATIO ?
					  len * PTC_BUNDLE_RATIO :
					  PTC_MANIFEST_BYTES;

	return by_ratio > PTC_BUNDLE_FREE ? by_ratio : PTC_BUNDLE_FREE;
}

int ptc_bundle_open(const void *bytes, size_t len, const char *name, struct ptc_bundle **ret,
		    struct ptc_err *err)
{
	struct ptc_bundle *b = calloc(1, sizeof(*b));
	struct ptc_unpack *u = NULL;
	int rc;

	if (!b)
		return ptc_fail_mem(err);
	b->spool = (struct ptc_spool)PTC_SPOOL_INIT;
	(void)pthread_mutex_init(&b->lock, NULL);
	rc = ptc_unpack_new(bytes, len, allowed_bytes(len), &u, err);
	if (!rc)
		rc = take_members(b, u, err);
	ptc_unpack_free(u);
	if (!rc) {
		*ret = b;
		return 0;
	}
	ptc_bundle_free(b);
	return ptc_err_prefix(err, "cannot read the bundle '%s': ", name);
}

void ptc_bundle_free(struct ptc_bundle *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; b->members && i < b->manifest.n; i++)
		ptc_spool_release(&b->members[i].file);
	free(b->members);
	free(b->shown);
	ptc_spool_release(&b->spool);
	ptc_manifest_release(&b->manifest);
	(void)pthread_mutex_destroy(&b->lock);
	free(b);
}

/* --- members --- */

const struct ptc_manifest *ptc_bundle_manifest(const struct ptc_bundle *b)
{
	return &b->manifest;
}

size_t ptc_bundle_nmembers(const struct ptc_bundle *b)
{
	return b->manifest.n;
}

const struct ptc_bundle_member *ptc_bundle_member(const struct ptc_bundle *b, size_t i)
{
	return i < b->manifest.n ? &b->shown[i].member : NULL;
}

struct ptc_cur ptc_bundle_bytes(const struct ptc_bundle *b, size_t i)
{
	return ptc_cur_init(b->bytes + b->members[i].off, (size_t)b->manifest.members[i].size);
}

int ptc_bundle_member_fd(struct ptc_bundle *b, size_t i, struct ptc_err *err)
{
	const struct ptc_cur bytes = ptc_bundle_bytes(b, i);
	struct ptc_spool *file = &b->members[i].file;
	int fd = -1, rc = 0;

	(void)pthread_mutex_lock(&b->lock);
	if (file->fd < 0)
		rc = ptc_spool_file(file, bytes.pos, ptc_cur_left(&bytes), err);
	if (!rc)
		fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (!rc && fd < 0)
		rc = ptc_fail_sys(err, errno, "cannot open a member of the bundle");
	if (rc)
		ptc_spool_release(file);
	(void)pthread_mutex_unlock(&b->lock);
	return rc ? rc : fd;
}
