/* SPDX-License-Identifier: MIT */
/*
 * The manifest of a bundle: the list of its members, in their order, with sizes and checksums
 * (doc/format.md). It is JSON, and the first member.
 */
#ifndef PTC_AUXTRACE_BUNDLE_MANIFEST_H
#define PTC_AUXTRACE_BUNDLE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "ptcap/bundle.h"
#include "ptcap/error.h"
#include "ptcap/record.h"

#define PTC_MANIFEST_NAME "manifest.json"

/* Limits of a bundle. doc/format.md and ptcap-archive(1) list them. */
enum {
	PTC_MANIFEST_VERSION = 1,
	PTC_MANIFEST_MAX = 4 << 20,   /* bytes of the manifest itself */
	PTC_MANIFEST_MEMBERS = 4096,  /* without the manifest */
	PTC_MANIFEST_NAME_SIZE = 160, /* of the name of a member, with its NUL */
	PTC_MANIFEST_PATH_MAX = 4096,
};
#define PTC_MANIFEST_BYTES (UINT64_C(1) << 36) /* of all members together */

enum { PTC_MEMBER_KINDS = PTC_MEMBER_MODULES + 1 };

struct ptc_member {
	enum ptc_member_kind kind;
	struct ptc_build_id id; /* len 0: none, then it is found by its path */
	char *path;		/* owned; as recorded; NULL: not needed */
	uint64_t ino;		/* recorded inode of a file without a build-id; 0: not known */
	bool partial;		/* the file has more than the member: zeros are in its place */
	uint64_t size;
	uint8_t sha256[PTC_SHA256_SIZE];
};

/* Zeroed: empty. */
struct ptc_manifest {
	struct ptc_member *members; /* owned */
	size_t n, cap;
};

void ptc_manifest_release(struct ptc_manifest *m);

/*
 * Append a copy of @member. PTC_E_LIMIT: there are too many. PTC_E_USAGE: it needs a build-id or a
 * path and has neither, or the path is not UTF-8.
 */
int ptc_manifest_add(struct ptc_manifest *m, const struct ptc_member *member, struct ptc_err *err);

/*
 * Get the name of member @i in the archive. It depends on the kind, the build-id and @i only: code
 * with a build-id has the name that perf's cache has for it.
 */
void ptc_manifest_name(const struct ptc_manifest *m, size_t i, char ret[PTC_MANIFEST_NAME_SIZE]);

/* Returns the member of @kind with @id (len not 0), or SIZE_MAX. */
size_t ptc_manifest_find_id(const struct ptc_manifest *m, enum ptc_member_kind kind,
			    const struct ptc_build_id *id);
/* Returns the member of @kind without a build-id that was recorded as @path, or SIZE_MAX. */
size_t ptc_manifest_find_path(const struct ptc_manifest *m, enum ptc_member_kind kind,
			      const char *path);

/* Returns the first member of @kind, or SIZE_MAX. */
size_t ptc_manifest_find_kind(const struct ptc_manifest *m, enum ptc_member_kind kind);

/* Append the JSON text to @out. */
int ptc_manifest_print(const struct ptc_manifest *m, struct ptc_buf *out, struct ptc_err *err);

/*
 * Parse a manifest. Refuses members with other names than ptc_manifest_name(), duplicates, and
 * sizes above the limits. @ret is empty on entry, and the caller releases it also after a failure.
 */
int ptc_manifest_parse(const void *text, size_t len, struct ptc_manifest *ret, struct ptc_err *err);

#endif
