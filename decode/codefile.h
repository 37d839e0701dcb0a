/* SPDX-License-Identifier: MIT */
/*
 * The bytes of one DSO: a file found by path and checked by build-id, the same
 * from perf's build-id cache, or bytes that are in no file at all (the vdso,
 * code saved with the recording).
 */
#ifndef PTC_DECODE_CODEFILE_H
#define PTC_DECODE_CODEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "ptcap/error.h"

struct ptc_symtab;

struct ptc_codefile {
	char *name;		/* owned; as recorded */
	struct ptc_build_id id; /* as recorded; len 0: not known */
	const uint8_t *bytes;	/* NULL: could not be had */
	size_t len;
	char *path;		 /* owned; the file whose bytes these are; NULL: none */
	bool mapped;		 /* bytes is a mapping of ours */
	uint64_t gaps;		 /* times its code was missed */
	struct ptc_symtab *syms; /* owned; read when first asked for */
	bool syms_tried;
	uint8_t *saved; /* owned; what syms are of, if that is not bytes */
};

/* All of a decode's files. They live until the store is released. */
struct ptc_codefiles {
	struct ptc_codefile **files; /* owned */
	size_t n, cap;
};

void ptc_codefiles_release(struct ptc_codefiles *s);

/*
 * The file @name as it was recorded; @id (may be NULL, or len 0) is its
 * build-id when known. One object for each pair. A file that cannot be had is
 * no error: its bytes are NULL. NULL when out of memory.
 */
struct ptc_codefile *ptc_codefiles_get(struct ptc_codefiles *s, const char *name,
				       const struct ptc_build_id *id);

/* @bytes (lent: they must outlive the store) as a code file of their own. */
struct ptc_codefile *ptc_codefiles_add_bytes(struct ptc_codefiles *s, const char *name,
					     const void *bytes, size_t len);

/* The file at @path, now; failing is an error (raw mode). */
int ptc_codefiles_open(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		       struct ptc_err *err);

#endif
