/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a bundle. The first byte selects what the rest is: a bundle, the tar archive in a
 * bundle, or a manifest. Asserted: the first member of an accepted manifest is the recording, and
 * no name leads out of a folder. A manifest that is printed and read again is the same. All bytes
 * of an accepted bundle have their checksums.
 */
#include <string.h>
#include <zstd.h>

#include "auxtrace/bundle/bundle.h"
#include "fuzz.h"

enum { AS_BUNDLE, AS_TAR, AS_MANIFEST, WAYS };

static void check_names(const struct ptc_manifest *m)
{
	char name[PTC_MANIFEST_NAME_SIZE];
	size_t i;

	CHECK(m->n && m->n <= PTC_MANIFEST_MEMBERS);
	for (i = 0; i < m->n; i++) {
		const bool recording = m->members[i].kind == PTC_MEMBER_RECORDING ||
				       m->members[i].kind == PTC_MEMBER_FOLDER;

		CHECK(recording == !i);
		ptc_manifest_name(m, i, name);
		CHECK(*name && *name != '/' && !strstr(name, ".."));
	}
}

static void check_manifest(const uint8_t *text, size_t len)
{
	struct ptc_manifest m = { .n = 0 }, again = { .n = 0 };
	struct ptc_buf first = PTC_BUF_INIT, second = PTC_BUF_INIT;
	struct ptc_err err;

	if (!ptc_manifest_parse(text, len, &m, &err)) {
		check_names(&m);
		CHECK(!ptc_manifest_print(&m, &first, &err));
		CHECK(!ptc_manifest_parse(first.bytes, first.len, &again, &err));
		CHECK(!ptc_manifest_print(&again, &second, &err));
		CHECK(first.len == second.len && !memcmp(first.bytes, second.bytes, first.len));
	}
	ptc_buf_release(&first);
	ptc_buf_release(&second);
	ptc_manifest_release(&m);
	ptc_manifest_release(&again);
}

static void check_members(const struct ptc_bundle *b)
{
	const struct ptc_manifest *m = ptc_bundle_manifest(b);
	uint8_t sum[PTC_SHA256_SIZE];
	struct ptc_sha256 s;
	size_t i;

	check_names(m);
	for (i = 0; i < m->n; i++) {
		const struct ptc_cur bytes = ptc_bundle_bytes(b, i);

		CHECK(ptc_cur_left(&bytes) == m->members[i].size);
		ptc_sha256_init(&s);
		ptc_sha256_put(&s, bytes.pos, ptc_cur_left(&bytes));
		ptc_sha256_finish(&s, sum);
		CHECK(!memcmp(sum, m->members[i].sha256, sizeof(sum)));
	}
}

static void check_bundle(const uint8_t *bytes, size_t len)
{
	struct ptc_bundle *b;
	struct ptc_err err;

	if (ptc_bundle_open(bytes, len, "bundle", &b, &err))
		return;
	check_members(b);
	ptc_bundle_free(b);
}

static void check_tar(const uint8_t *bytes, size_t len)
{
	const size_t room = ZSTD_compressBound(len);
	uint8_t *packed = malloc(room);
	size_t n;

	CHECK(packed);
	n = ZSTD_compress(packed, room, bytes, len, 1);
	CHECK(!ZSTD_isError(n));
	check_bundle(packed, n);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	switch (bytes[0] % WAYS) {
	case AS_BUNDLE:
		check_bundle(bytes + 1, len - 1);
		break;
	case AS_TAR:
		check_tar(bytes + 1, len - 1);
		break;
	default:
		check_manifest(bytes + 1, len - 1);
	}
	return 0;
}
