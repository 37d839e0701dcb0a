/* SPDX-License-Identifier: MIT */
/* Writing a bundle: a file that appears under its name only when complete (base/tmpfile.h). */
#ifndef PTC_AUXTRACE_BUNDLE_BUNDLE_WRITE_H
#define PTC_AUXTRACE_BUNDLE_BUNDLE_WRITE_H

#include "auxtrace/bundle/manifest.h"
#include "auxtrace/bundle/partial_file.h"
#include "ptcap/cursor.h"
#include "ptcap/error.h"

/* The bytes of a member. */
struct ptc_bundle_source {
	int fd;			   /* owned; a regular file; -1: bytes */
	struct ptc_cur bytes;	   /* lent, or inside owned */
	uint8_t *owned;		   /* freed with the source; NULL: none */
	struct ptc_partial *parts; /* owned; of the file fd; NULL: the whole file */
};

/* Zeroed: empty. */
struct ptc_bundle_writer {
	struct ptc_manifest manifest;
	struct ptc_bundle_source *sources; /* owned; one for each member */
	size_t cap;
	uint64_t written; /* set by ptc_bundle_write: bytes of the bundle */
};

/* Close all descriptors. */
void ptc_bundle_writer_release(struct ptc_bundle_writer *w);

/*
 * Add a member. The first must be the recording. @source is owned from now on, also after a
 * failure. @member: size and sum are computed here. Returns 0; 1 if an equal member is already
 * there; or a negative code. @name is for messages.
 */
int ptc_bundle_writer_add(struct ptc_bundle_writer *w, const struct ptc_member *member,
			  const struct ptc_bundle_source *source, const char *name,
			  struct ptc_err *err);

/*
 * Write the bundle to @output at zstd's @level. PTC_E_LIMIT: ptc_bundle_open would refuse it.
 * PTC_E_IO: also if a file changed since it was added.
 */
int ptc_bundle_write(struct ptc_bundle_writer *w, const char *output, unsigned int level,
		     struct ptc_err *err);

#endif
