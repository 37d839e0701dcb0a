/* SPDX-License-Identifier: MIT */
/*
 * Public: ptcap/bundle.h.
 *
 * A bundle: a recording with the files that decoding needs, in one tar archive packed by zstd. All
 * of it is unpacked to a nameless temporary file when it is opened. No member ever gets a name on
 * this machine. A bundle is hostile input: see doc/adr/0031-bundles.md.
 */
#ifndef PTC_AUXTRACE_BUNDLE_BUNDLE_H
#define PTC_AUXTRACE_BUNDLE_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/bundle/manifest.h"
#include "ptcap/bundle.h"
#include "ptcap/error.h"

/*
 * Unpacked bytes that are always allowed, and allowed per byte of the bundle above that. Zeros in
 * code pack better than by PTC_BUNDLE_RATIO.
 */
#define PTC_BUNDLE_FREE	 (UINT64_C(256) << 20)
#define PTC_BUNDLE_RATIO UINT64_C(200)

/*
 * Unpack and check the bundle in @bytes, which are not needed afterwards. @name is for messages.
 * PTC_E_FORMAT: it is no bundle, or damaged. PTC_E_LIMIT: it is too large. The caller frees *@ret.
 */
int ptc_bundle_open(const void *bytes, size_t len, const char *name, struct ptc_bundle **ret,
		    struct ptc_err *err);
void ptc_bundle_free(struct ptc_bundle *b);

/* Returns the manifest, lent. */
const struct ptc_manifest *ptc_bundle_manifest(const struct ptc_bundle *b);

/*
 * Open member @i as a regular file without a name, for reading with pread(2). All descriptors of a
 * member share one file. The caller closes the descriptor. Thread-safe.
 */
int ptc_bundle_member_fd(struct ptc_bundle *b, size_t i, struct ptc_err *err);

#endif
