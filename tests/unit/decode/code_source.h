/* SPDX-License-Identifier: MIT */
/*
 * A recording of thread 7 in a folder of its own, which also has the files with its code. The
 * result is one line for each branch, with its symbol, and for each gap. The notes follow.
 */
#ifndef PTC_TESTS_CODE_SOURCE_H
#define PTC_TESTS_CODE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib_perfdata.h"
#include "ptcap/decode.h"

struct origin {
	struct pd pd;
	char dir[64];
	struct ptc_code_opts code;
	bool folder;  /* the recording is a folder */
	bool bundled; /* decode a bundle of the folder, without its files */
	struct ptc_decode *d;
	struct ptc_missing missing; /* the first one; its strings are copied below */
	size_t nmissing, files;
	char file[128], build_id[64], found_id[64];
	FILE *out;
	char *text; /* items, then "# NOTE" lines */
	size_t len;
};

/*
 * Begins an empty recording: one event intel_pt, a known CPU, 1 ns per tick. Call origin_end()
 * later.
 */
void origin_begin(struct origin *t);
void origin_end(struct origin *t);
void origin_set_cpu(struct pd *pd, const char *cpuid);

/* Adds trace; releases @b. */
void origin_trace(struct origin *t, struct ptc_buf *b);
/* Adds one syscall at time 50 in the code at @base. */
void origin_one_syscall(struct origin *t, uint64_t base);
/* Maps a page of @name at @addr, with a build-id that begins with @id. */
void origin_map_id(struct origin *t, uint64_t addr, uint64_t off, const char *name, uint8_t id);
/* Adds an MMAP record of the kernel, which is traced, too, from now on. */
void origin_kernel_mmap(struct origin *t, uint64_t addr, uint64_t len, uint64_t pgoff,
			const char *name);

/*
 * Decodes the recording, or surveys it. The result is in text and missing. Returns 0, or an error
 * code.
 */
int origin_run(struct origin *t, bool survey, struct ptc_err *err);
/* Decodes; the items must be @lines, and the notes must begin with @notes. */
void origin_expect(struct origin *t, const char *lines, const char *notes);

#endif
