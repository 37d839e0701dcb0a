/* SPDX-License-Identifier: MIT */
/* Reads the jitdumps that a recording's mappings name: code as events, and names. */
#ifndef PTC_DECODE_SIDEBAND_JITDUMP_LOAD_H
#define PTC_DECODE_SIDEBAND_JITDUMP_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

struct ptc_file;
struct ptc_origin;
struct ptc_sb_mmap;
struct ptc_sideband;
struct ptc_tsc_clock;

struct ptc_dump {
	const char *path; /* lent */
	int32_t pid;	  /* the process that mapped it */
	uint8_t *bytes;	  /* owned, unless shared; NULL: not read, or empty */
	bool shared;	  /* bytes belong to an earlier dump, which is the same file */
	bool used;	  /* names or code are lent from bytes */
	uint64_t len, ino, dev;
};

/* Zeroed: none. */
struct ptc_dumps {
	struct ptc_dump *dumps; /* owned */
	size_t n, cap;
};

void ptc_dumps_release(struct ptc_dumps *d);

/* If @m is the mapping by which a JIT announces its dump: record it, and return true. */
bool ptc_dumps_note(struct ptc_dumps *d, const struct ptc_sb_mmap *m);

/*
 * Read the dumps recorded in @c. Each code becomes a TEXT_POKE of @s, which borrows its bytes from
 * the dump, and a name in @c. A dump that is missing or damaged gets a remark there. It does not
 * stop the decode.
 */
int ptc_dumps_read(struct ptc_origin *c, struct ptc_sideband *s, const struct ptc_file *f,
		   const struct ptc_tsc_clock *clock, struct ptc_err *err);

#endif
