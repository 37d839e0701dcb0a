/* SPDX-License-Identifier: MIT */
/* Description: bundles are written and read; cut, changed and hostile ones are refused. */
#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "auxtrace/bundle/bundle_write.h"
#include "base/buf.h"

/* What a test archive says about a member. NULL or 0: as it should be. */
struct said {
	const char *name, *link;
	unsigned int type; /* AE_IF... */
	const char *content;
};

static const struct ptc_build_id id = { .bytes = { 0xab, 0xcd, 0xef }, .len = 3 };
static const char recording[] = "the recording", code[] = "the code";

static void fill(struct ptc_manifest *m)
{
	const struct ptc_member first = { .kind = PTC_MEMBER_RECORDING,
					  .size = sizeof(recording) - 1 };
	char path[] = "/bin/program";
	const struct ptc_member second = {
		.kind = PTC_MEMBER_CODE, .id = id, .path = path, .size = sizeof(code) - 1
	};
	struct ptc_sha256 sum;
	struct ptc_err err;

	cr_assert_eq(ptc_manifest_add(m, &first, &err), 0);
	cr_assert_eq(ptc_manifest_add(m, &second, &err), 0);
	ptc_sha256_init(&sum);
	ptc_sha256_put(&sum, recording, sizeof(recording) - 1);
	ptc_sha256_finish(&sum, m->members[0].sha256);
	ptc_sha256_init(&sum);
	ptc_sha256_put(&sum, code, sizeof(code) - 1);
	ptc_sha256_finish(&sum, m->members[1].sha256);
}

static la_ssize_t put_bytes(struct archive *a, void *ctx, const void *bytes, size_t n)
{
	(void)a;
	ptc_buf_put(ctx, bytes, n);
	return (la_ssize_t)n;
}

static void put_one(struct archive *a, const char *name, const struct said *said,
		    const char *content)
{
	struct archive_entry *e = archive_entry_new();
	const char *bytes = said && said->content ? said->content : content;

	archive_entry_set_pathname(e, said && said->name ? said->name : name);
	archive_entry_set_filetype(e, said && said->type ? said->type : AE_IFREG);
	archive_entry_set_perm(e, 0600);
	archive_entry_set_size(e, (la_int64_t)strlen(bytes));
	if (said && said->link)
		archive_entry_set_hardlink(e, said->link);
	cr_assert_eq(archive_write_header(a, e), ARCHIVE_OK, "%s", archive_error_string(a));
	(void)archive_write_data(a, bytes, strlen(bytes));
	archive_entry_free(e);
}

/* Makes a bundle. @second: about its code. @more: a third member, not in the manifest, or NULL. */
static void make(struct ptc_buf *out, const struct said *manifest, const struct said *second,
		 const struct said *more)
{
	struct archive *a = archive_write_new();
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_manifest m = { .n = 0 };
	struct ptc_err err;

	fill(&m);
	cr_assert_eq(ptc_manifest_print(&m, &text, &err), 0);
	ptc_buf_u8(&text, 0);
	cr_assert_eq(archive_write_add_filter_zstd(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_set_format_pax_restricted(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_set_bytes_in_last_block(a, 1), ARCHIVE_OK);
	cr_assert_eq(archive_write_open(a, out, NULL, put_bytes, NULL), ARCHIVE_OK);
	put_one(a, PTC_MANIFEST_NAME, manifest, (const char *)text.bytes);
	put_one(a, "perf.data", NULL, recording);
	put_one(a, ".build-id/ab/cdef/elf", second, code);
	if (more)
		put_one(a, more->name, more, "more");
	cr_assert_eq(archive_write_free(a), ARCHIVE_OK);
	ptc_buf_release(&text);
	ptc_manifest_release(&m);
}

/* Opens an exact copy of the bytes. */
static int open_copy(const void *bytes, size_t len, struct ptc_bundle **ret, struct ptc_err *err)
{
	uint8_t *copy = malloc(len ? len : 1);
	int rc;

	cr_assert_not_null(copy);
	if (len)
		memcpy(copy, bytes, len);
	rc = ptc_bundle_open(copy, len, "b", ret, err);
	free(copy);
	return rc;
}

static void refused(const struct said *manifest, const struct said *second, const struct said *more,
		    const char *why)
{
	struct ptc_buf out = PTC_BUF_INIT;
	struct ptc_bundle *b = NULL;
	struct ptc_err err = { .code = 0 };

	make(&out, manifest, second, more);
	cr_assert_lt(open_copy(out.bytes, out.len, &b, &err), 0, "accepted; expected: %s", why);
	cr_assert_not_null(strstr(err.msg, why), "%s, not %s", err.msg, why);
	cr_assert_null(b);
	ptc_buf_release(&out);
}

static void lists_members(const struct ptc_bundle *b)
{
	const struct ptc_bundle_member *m = ptc_bundle_member(b, 0);
	struct ptc_sha256 sum;
	uint8_t want[PTC_SHA256_SIZE];

	cr_assert_eq(ptc_bundle_nmembers(b), 2);
	cr_assert_null(ptc_bundle_member(b, 2));
	cr_assert_eq(m->kind, PTC_MEMBER_RECORDING);
	cr_assert_str_eq(m->name, "perf.data");
	cr_assert_null(m->path);
	m = ptc_bundle_member(b, 1);
	cr_assert_eq(m->kind, PTC_MEMBER_CODE);
	cr_assert_str_eq(m->name, ".build-id/ab/cdef/elf");
	cr_assert_str_eq(m->path, "/bin/program");
	cr_assert_eq(m->id.len, id.len);
	cr_assert_eq(m->size, sizeof(code) - 1);
	ptc_sha256_init(&sum);
	ptc_sha256_put(&sum, code, sizeof(code) - 1);
	ptc_sha256_finish(&sum, want);
	cr_assert_eq(memcmp(m->sha256, want, sizeof(want)), 0);
}

Test(bundle, a_bundle_has_its_members_as_bytes_and_as_files)
{
	struct ptc_buf out = PTC_BUF_INIT;
	struct ptc_bundle *b = NULL;
	struct ptc_cur bytes;
	struct ptc_err err;
	char read_back[32];
	size_t i;
	int fd, again;

	make(&out, NULL, NULL, NULL);
	cr_assert(ptc_bundle_is(out.bytes, out.len));
	cr_assert_eq(open_copy(out.bytes, out.len, &b, &err), 0, "%s", err.msg);
	bytes = ptc_bundle_bytes(b, 0);
	cr_assert_eq(ptc_cur_left(&bytes), sizeof(recording) - 1);
	cr_assert_eq(memcmp(bytes.pos, recording, sizeof(recording) - 1), 0);
	i = ptc_manifest_find_id(ptc_bundle_manifest(b), PTC_MEMBER_CODE, &id);
	cr_assert_eq(i, 1);
	lists_members(b);
	cr_assert_eq(ptc_manifest_find_id(ptc_bundle_manifest(b), PTC_MEMBER_DEBUG, &id), SIZE_MAX);
	fd = ptc_bundle_member_fd(b, i, &err);
	again = ptc_bundle_member_fd(b, i, &err);
	cr_assert(fd >= 0 && again >= 0 && fd != again);
	cr_assert_eq(pread(fd, read_back, sizeof(read_back), 0), (ssize_t)sizeof(code) - 1);
	cr_assert_eq(memcmp(read_back, code, sizeof(code) - 1), 0);
	(void)close(fd);
	(void)close(again);
	ptc_bundle_free(b);
	ptc_buf_release(&out);
}

Test(bundle, a_bundle_cut_at_any_length_is_refused)
{
	struct ptc_buf out = PTC_BUF_INIT;
	struct ptc_bundle *b = NULL;
	struct ptc_err err;
	size_t n;

	make(&out, NULL, NULL, NULL);
	for (n = 0; n < out.len; n++)
		cr_assert_lt(open_copy(out.bytes, n, &b, &err), 0, "%zu of %zu bytes", n, out.len);
	ptc_buf_release(&out);
}

Test(bundle, bytes_behind_the_archive_are_refused)
{
	struct ptc_buf out = PTC_BUF_INIT;
	struct ptc_bundle *b = NULL;
	struct ptc_err err;

	make(&out, NULL, NULL, NULL);
	ptc_buf_put(&out, "x", 1);
	cr_assert_lt(open_copy(out.bytes, out.len, &b, &err), 0);
	out.len--;
	make(&out, NULL, NULL, NULL); /* a second archive */
	cr_assert_lt(open_copy(out.bytes, out.len, &b, &err), 0);
	cr_assert_not_null(strstr(err.msg, "behind its last member"), "%s", err.msg);
	ptc_buf_release(&out);
}

Test(bundle, no_byte_can_be_changed_unseen)
{
	struct ptc_buf out = PTC_BUF_INIT;
	struct ptc_bundle *b;
	struct ptc_cur bytes;
	struct ptc_err err;
	size_t i;

	make(&out, NULL, NULL, NULL);
	for (i = 0; i < out.len; i++) {
		out.bytes[i] ^= 0x15;
		b = NULL;
		if (!open_copy(out.bytes, out.len, &b, &err)) {
			/* Times and owners do not matter. */
			bytes = ptc_bundle_bytes(b, 1);
			cr_assert_eq(memcmp(bytes.pos, code, sizeof(code) - 1), 0, "byte %zu", i);
			ptc_bundle_free(b);
		}
		out.bytes[i] ^= 0x15;
	}
	ptc_buf_release(&out);
}

Test(bundle, hostile_members_are_refused)
{
	refused(NULL, &(struct said){ .name = "../x" }, NULL, "where the manifest lists");
	refused(NULL, &(struct said){ .name = "/etc/x" }, NULL, "where the manifest lists");
	refused(NULL, &(struct said){ .name = "./.build-id/ab/cdef/elf" }, NULL,
		"where the manifest lists");
	refused(NULL, &(struct said){ .link = "perf.data" }, NULL, "is no regular file");
	refused(NULL, &(struct said){ .type = AE_IFLNK }, NULL, "is no regular file");
	refused(NULL, &(struct said){ .type = AE_IFDIR }, NULL, "is no regular file");
	refused(NULL, &(struct said){ .type = AE_IFCHR }, NULL, "is no regular file");
	refused(NULL, &(struct said){ .type = AE_IFIFO }, NULL, "is no regular file");
	refused(NULL, &(struct said){ .content = "shorter" }, NULL, "has 7 bytes");
	refused(NULL, &(struct said){ .content = "the edoc" }, NULL, "does not have its checksum");
	refused(NULL, NULL, &(struct said){ .name = "x" }, "which the manifest does not list");
	refused(NULL, NULL, &(struct said){ .name = "perf.data" },
		"which the manifest does not list");
	refused(&(struct said){ .name = "perf.data" }, NULL, NULL, "its first member is not");
}

#define HEAD  "{\"format\": \"ptcap bundle\", \"version\": 1, \"members\": ["
#define SUM   "\"sha256\": \"0000000000000000000000000000000000000000000000000000000000000000\""
#define FIRST "{\"name\": \"perf.data\", \"kind\": \"recording\", \"size\": 0, " SUM "}"
#define AB                                                                                         \
	"{\"name\": \".build-id/ab/cd/elf\", \"kind\": \"code\", \"build_id\": \"abcd\", "         \
	"\"size\": 1, " SUM "}"

Test(bundle, hostile_manifests_are_refused)
{
	static const struct {
		const char *text, *why;
	} tried[] = {
		{ "", "is not JSON" },
		{ "{}", "is of no bundle" },
		{ "[1, 2]", "is of no bundle" },
		{ "{\"format\": \"ptcap bundle\", \"version\": 2, \"members\": [" FIRST "]}",
		  "has version 2" },
		{ HEAD "]}", "lists no members" },
		{ HEAD FIRST "]} x", "is not JSON" },
		{ HEAD AB "]}", "is malformed" },
		{ HEAD FIRST ", " FIRST "]}", "is malformed" },
		{ HEAD FIRST ", " AB ", " AB "]}", "twice" },
		{ HEAD FIRST
		  ", {\"name\": \"../../x\", \"kind\": \"code\", \"build_id\": \"abcd\", "
		  "\"size\": 1, " SUM "}]}",
		  "instead of '.build-id/ab/cd/elf'" },
		{ HEAD FIRST ", {\"name\": \"files/1\", \"kind\": \"code\", \"size\": 1, " SUM
			     "}]}",
		  "neither a build-id nor a path" },
		{ HEAD FIRST ", {\"name\": \"files/1\", \"kind\": \"code\", \"path\": \"/x\", "
			     "\"size\": -1, " SUM "}]}",
		  "is malformed" },
		{ HEAD FIRST ", {\"name\": \"files/1\", \"kind\": \"code\", \"path\": \"/x\", "
			     "\"size\": 68719476737, " SUM "}]}",
		  "is malformed" },
		{ HEAD FIRST ", {\"name\": \"files/1\", \"kind\": \"code\", \"path\": \"/x\", "
			     "\"size\": 68719476736, " SUM "}, " AB "]}",
		  "more than 68719476736 bytes" },
		{ HEAD FIRST ", {\"name\": \"files/1\", \"kind\": \"code\", \"path\": \"/x\", "
			     "\"size\": 1, \"sha256\": \"00\"}]}",
		  "is malformed" },
		{ HEAD FIRST ", {\"name\": \"x\", \"name\": \"y\"}]}", "is not JSON" },
	};
	struct ptc_manifest m = { .n = 0 };
	struct ptc_err err = { .code = 0 };
	size_t i;

	for (i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		cr_assert_lt(ptc_manifest_parse(tried[i].text, strlen(tried[i].text), &m, &err), 0,
			     "accepted: %s", tried[i].text);
		cr_assert_not_null(strstr(err.msg, tried[i].why), "%s, not %s", err.msg,
				   tried[i].why);
		ptc_manifest_release(&m);
	}
	cr_assert_eq(ptc_manifest_parse(HEAD FIRST ", " AB "]}", strlen(HEAD FIRST ", " AB "]}"),
					&m, &err),
		     0, "%s", err.msg);
	cr_assert_eq(m.n, 2);
	ptc_manifest_release(&m);
}

/* A member of zeros packs by far more than the ratio allows. */
Test(bundle, a_bomb_is_refused_before_it_fills_the_disk)
{
	static const char text[] = HEAD
		"{\"name\": \"perf.data\", \"kind\": \"recording\", \"size\": 269484032, " SUM
		"}]}";
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	struct ptc_buf out = PTC_BUF_INIT;
	static uint8_t zeros[1 << 20];
	struct ptc_bundle *b = NULL;
	struct ptc_err err;
	int i;

	cr_assert_eq(archive_write_add_filter_zstd(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_set_format_pax_restricted(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_open(a, &out, NULL, put_bytes, NULL), ARCHIVE_OK);
	put_one(a, PTC_MANIFEST_NAME, NULL, text);
	archive_entry_set_pathname(e, "perf.data");
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_size(e, 269484032);
	cr_assert_eq(archive_write_header(a, e), ARCHIVE_OK);
	for (i = 0; i < 257; i++)
		cr_assert_eq(archive_write_data(a, zeros, sizeof(zeros)),
			     (la_ssize_t)sizeof(zeros));
	archive_entry_free(e);
	cr_assert_eq(archive_write_free(a), ARCHIVE_OK);
	cr_assert_eq(open_copy(out.bytes, out.len, &b, &err), PTC_E_LIMIT);
	cr_assert_not_null(strstr(err.msg, "unpacks to more than 268435456 bytes"), "%s", err.msg);
	ptc_buf_release(&out);
}

Test(bundle, the_writer_writes_each_member_once_and_refuses_a_changed_file)
{
	struct ptc_bundle_writer w = { .sources = NULL };
	const struct ptc_member first = { .kind = PTC_MEMBER_RECORDING };
	const struct ptc_member second = { .kind = PTC_MEMBER_CODE, .id = id };
	struct ptc_bundle_source source = { .fd = -1 };
	char dir[] = "/tmp/ptcap-bundle-XXXXXX", path[64];
	struct ptc_err err;
	int fd;

	cr_assert_not_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/b", dir);
	source.bytes = ptc_cur_init(recording, sizeof(recording));
	cr_assert_eq(ptc_bundle_writer_add(&w, &first, &source, "r", &err), 0);
	source.fd = memfd_create("code", 0);
	cr_assert_eq(write(source.fd, code, sizeof(code)), (ssize_t)sizeof(code));
	fd = dup(source.fd);
	cr_assert_eq(ptc_bundle_writer_add(&w, &second, &source, "c", &err), 0);
	source.fd = dup(fd);
	cr_assert_eq(ptc_bundle_writer_add(&w, &second, &source, "c", &err), 1);
	cr_assert_eq(ptc_bundle_write(&w, path, 1, &err), 0, "%s", err.msg);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(pwrite(fd, "X", 1, 0), 1);
	cr_assert_eq(ptc_bundle_write(&w, path, 1, &err), PTC_E_IO);
	cr_assert_not_null(strstr(err.msg, "changed while it was read"), "%s", err.msg);
	cr_assert_eq(rmdir(dir), 0);
	(void)close(fd);
	ptc_bundle_writer_release(&w);
}
