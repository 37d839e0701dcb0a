/* SPDX-License-Identifier: MIT */
/* Adds a recording and the files that it needs to a bundle. */
#ifndef PTC_DECODE_ARCHIVE_BUNDLE_FILES_H
#define PTC_DECODE_ARCHIVE_BUNDLE_FILES_H

#include <stdbool.h>

#include "ptcap/error.h"

struct ptc_bundle_writer;
struct ptc_decode;
struct ptc_reached;

struct ptc_bundle_files {
	struct ptc_decode *d;
	const struct ptc_reached *reached;
	struct ptc_bundle_writer *writer; /* empty */
	bool all;			  /* all mapped files, not only files that were reached */
	bool debug;			  /* also debug files */
	bool parts;			  /* of each ELF file only the parts that are needed */
	bool unwinds; /* stacks lead through the files; set by ptc_bundle_files_add */
	/* Takes a message about a file that is not in the bundle. */
	void (*left_out)(void *ctx, const char *why);
	void *ctx;
};

/*
 * Add the recording and its files; all mapped files, if the recording has the state of a process. A
 * file that cannot be read is reported and left out. A file without a build-id
 * must be an ELF file: a hostile recording could name any file of the user.
 */
int ptc_bundle_files_add(const struct ptc_bundle_files *b, struct ptc_err *err);

#endif
