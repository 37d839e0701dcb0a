/* SPDX-License-Identifier: MIT */
/* The jitdumps that a recording's mappings name: code as events, and names. */
#ifndef PTC_DECODE_DUMPS_H
#define PTC_DECODE_DUMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/error.h"

struct ptc_file;
struct ptc_procs;
struct ptc_sb;
struct ptc_sideband;
struct ptc_tsc_clock;

/* Is @sb the mapping by which a JIT shows its dump? *ret: the pid in the name. */
bool ptc_dumps_is_one(const struct ptc_sb *sb, uint32_t *ret);

/*
 * Read the dumps that @s, not sorted yet, names: each code becomes a TEXT_POKE
 * of @s, which lends its bytes from ps->origin, and a name there. A dump that
 * is missing or damaged is remarked there, and is no reason not to decode.
 */
int ptc_dumps_read(struct ptc_procs *ps, struct ptc_sideband *s, const struct ptc_file *f,
		   const struct ptc_tsc_clock *clock, struct ptc_err *err);

#endif
