/* SPDX-License-Identifier: MIT */
/*
 * An input of fuzz_commands: a command, its options and the files that it reads. Any bytes are a
 * valid input: one byte for the command, AR_CHOICES bytes for the options, then parts. A part is a
 * byte with the kind of file, its length in four bytes, and the file. The last part may be cut.
 */
#ifndef PTC_TESTS_FUZZ_ARCHIVE_H
#define PTC_TESTS_FUZZ_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { AR_CHOICES = 10, AR_PARTS_MAX = 12 };

/* Saved inputs contain these numbers: append only, do not insert. */
enum ar_kind {
	AR_RECORDING,
	AR_FOLDER,	/* data of a recording in folder form */
	AR_FOLDER_CPU,	/* trace of one of its queues */
	AR_FOLDER_SYMS, /* kallsyms of its kernel */
	AR_PT,		/* a bare packet stream */
	AR_PROGRAM,
	AR_CACHED, /* a program in the build-id cache */
	AR_DEBUG,  /* its debug file */
	AR_JITDUMP,
	AR_MAP, /* perf-PID.map */
	AR_CORE,
	AR_KCORE,
	AR_KALLSYMS,
	AR_VMLINUX,
	AR_MODULE, /* a kernel module */
	AR_DEP,	   /* modules.dep */
	AR_KINDS
};

struct ar_part {
	enum ar_kind kind;
	struct ptc_buf bytes;
};

/* All zero: the first command, without a file. Caller releases it. */
struct archive {
	uint8_t command;
	uint8_t choices[AR_CHOICES];
	struct ar_part parts[AR_PARTS_MAX];
	size_t n;
};

void ar_release(struct archive *a);
/* Overwrites @a. */
void ar_read(struct archive *a, const uint8_t *bytes, size_t len);
/* Returns the length; 0: longer than @max. */
size_t ar_write(const struct archive *a, uint8_t *out, size_t max);
/* Adds a part with a copy of @bytes. False: there are already AR_PARTS_MAX. */
bool ar_add(struct archive *a, enum ar_kind kind, const void *bytes, size_t len);

#endif
