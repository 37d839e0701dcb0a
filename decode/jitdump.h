/* SPDX-License-Identifier: MIT */
/*
 * jitdump: what a JIT writes of its code, with times. Format:
 * tools/perf/Documentation/jitdump-specification.txt, version 1.
 */
#ifndef PTC_DECODE_JITDUMP_H
#define PTC_DECODE_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "ptcap/error.h"

struct ptc_jit_head {
	uint32_t pid;
	bool tsc; /* times are of the TSC; else of CLOCK_MONOTONIC */
};

/* From @time on @code is at @addr, and called @name. */
struct ptc_jit_code {
	uint64_t time, addr;
	struct ptc_cur code; /* lent from the dump */
	const char *name;    /* lent */
};

/* What is known of code by its index, for when it moves. */
struct ptc_jit_known {
	uint64_t index;
	const uint8_t *code;
	uint64_t size;
	const char *name;
};

struct ptc_jit_iter {
	struct ptc_cur rest;
	size_t len;		     /* of all */
	struct ptc_jit_known *known; /* owned; ascending index */
	size_t nknown, known_cap;
};

/* A dump: the bytes, which must outlive all that comes of it. PTC_E_FORMAT if it is none. */
int ptc_jit_begin(struct ptc_jit_iter *it, const void *bytes, size_t len, struct ptc_jit_head *ret,
		  struct ptc_err *err);
/*
 * The next code. Returns 1; 0 at the end; PTC_E_FORMAT where the rest makes no
 * sense (a writer that was killed leaves a cut record: what came before is good).
 */
int ptc_jit_next(struct ptc_jit_iter *it, struct ptc_jit_code *ret, struct ptc_err *err);
void ptc_jit_end(struct ptc_jit_iter *it);

/* Is @path that of a dump, ".../jit-PID.dump"? *ret: the number. */
bool ptc_jit_path(const char *path, uint32_t *ret);

#endif
