/* SPDX-License-Identifier: MIT */
/*
 * A recording of thread 7 in a folder of its own, where files are that its code may come from. What
 * comes out is a line for each transfer, with the symbol, and each gap; then the notes.
 */
#ifndef PTC_TESTS_ORIGIN_H
#define PTC_TESTS_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib_perfdata.h"
#include "ptcap/decode.h"

struct origin {
	struct pd pd;
	char dir[64];
	struct ptc_code_opts code;
	bool folder; /* the recording is one */
	struct ptc_decode *d;
	struct ptc_missing missing; /* the first; its strings are gone */
	size_t nmissing, files;
	char file[128], build_id[64], found_id[64];
	FILE *out;
	char *text; /* items, then "# NOTE" lines */
	size_t len;
};

/* Empty, of one event intel_pt, of a known CPU; a tick is a nanosecond. To be ended. */
void origin_begin(struct origin *t);
void origin_end(struct origin *t);
void origin_set_cpu(struct pd *pd, const char *cpuid);

/* Trace; @b is released. */
void origin_trace(struct origin *t, struct ptc_buf *b);
/* One syscall at time 50 in the code at @base. */
void origin_one_syscall(struct origin *t, uint64_t base);
/* A page of @name at @addr, and that its build-id begins with @id. */
void origin_map_id(struct origin *t, uint64_t addr, uint64_t off, const char *name, uint8_t id);
/* A MMAP record of the kernel, which is traced, too, from now on. */
void origin_kernel_mmap(struct origin *t, uint64_t addr, uint64_t len, uint64_t pgoff,
			const char *name);

/* Decode it, or survey it: text and missing are what came out. Returns what failed, or 0. */
int origin_run(struct origin *t, bool survey, struct ptc_err *err);
/* Decode; the items must be @lines, and the notes begin with @notes. */
void origin_expect(struct origin *t, const char *lines, const char *notes);

#endif
