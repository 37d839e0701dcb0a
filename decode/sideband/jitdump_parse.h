/* SPDX-License-Identifier: MIT */
/*
 * jitdump: a file in which a JIT writes its code, with times. Format:
 * tools/perf/Documentation/jitdump-specification.txt, version 1.
 */
#ifndef PTC_DECODE_SIDEBAND_JITDUMP_PARSE_H
#define PTC_DECODE_SIDEBAND_JITDUMP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "ptcap/error.h"

struct ptc_jit_head {
	uint32_t pid;
	bool tsc; /* times are from the TSC; else from CLOCK_MONOTONIC */
};

/* From @time on @code is at @addr, and is called @name. */
struct ptc_jit_code {
	uint64_t time, addr;
	struct ptc_cur code; /* lent from the dump */
	const char *name;    /* lent */
};

/* Known code by its index, in case it moves. */
struct ptc_jit_known {
	uint64_t index;
	const uint8_t *code;
	uint64_t size;
	const char *name;
};

struct ptc_jit_iter {
	struct ptc_cur rest;
	size_t len;		     /* of the whole dump */
	struct ptc_jit_known *known; /* owned; ascending index */
	size_t nknown, known_cap;
};

/* Open a dump: @bytes must outlive all results. PTC_E_FORMAT: not a jitdump. */
int ptc_jit_begin(struct ptc_jit_iter *it, const void *bytes, size_t len, struct ptc_jit_head *ret,
		  struct ptc_err *err);
/*
 * Read the next code. Returns 1; 0 at the end; PTC_E_FORMAT where the rest is damaged. A writer
 * that was killed leaves a truncated record: earlier records are good.
 */
int ptc_jit_next(struct ptc_jit_iter *it, struct ptc_jit_code *ret, struct ptc_err *err);
void ptc_jit_end(struct ptc_jit_iter *it);

/* Is @path that of a dump, ".../jit-PID.dump"? Sets *ret to the number. */
bool ptc_jit_path(const char *path, uint32_t *ret);

#endif
