/* SPDX-License-Identifier: MIT */
/*
 * Where code comes from: what puts files, cores, the kernel's memory and JITs'
 * dumps together, so that a mapping becomes bytes.
 */
#ifndef PTC_DECODE_ORIGIN_H
#define PTC_DECODE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "decode/dumps.h"
#include "decode/kernel.h"
#include "decode/labels.h"
#include "decode/pokedpages.h"
#include "ptcap/decode.h"

/* Ends the message about a file of another user (ptc_untrusted_owner). */
#define PTC_ORIGIN_WAY_OUT "; decode as that user, or put a copy of your own below --symfs"

struct ptc_core;
struct ptc_file;
struct ptc_proc;
struct ptc_procs;
struct ptc_sideband;
struct ptc_tsc_clock;

/* Names of a process's code that is in no file. */
struct ptc_jit_names {
	int32_t pid;
	bool map_tried; /* its perf-PID.map */
	bool sorted;
	struct ptc_poked_pages poked; /* where the recording has code of it itself */
	struct ptc_labels names;
};

/* When a process began, or executed another program. */
struct ptc_life {
	int32_t pid;
	uint64_t time;
};

struct ptc_origin {
	struct ptc_kernel kernel;
	struct ptc_core *core;	    /* owned; NULL: none */
	struct ptc_jit_names *jits; /* owned; as they came */
	size_t njits, jits_cap;
	struct ptc_idmap jit_places; /* in jits, by pid */
	struct ptc_dumps dumps;
	struct ptc_life *lives; /* owned; ascending pid and time, once ptc_origin_life was asked */
	size_t nlives, lives_cap;
	bool lives_sorted;
	char **remarks; /* owned, and so are they; ends with NULL */
	size_t nremarks, remarks_cap;
};

void ptc_origin_release(struct ptc_origin *c);

/* Before the records of @f are looked at: where files are looked for. @opts may be NULL. */
int ptc_origin_begin(struct ptc_procs *ps, const struct ptc_file *f,
		     const struct ptc_code_opts *opts, struct ptc_err *err);

/*
 * Of every side record, before any is applied: the files of mappings are found
 * and read, so that later no more than a look-up is to be done, and jitdumps
 * noted. What @sb lends must live as long as @ps.
 */
int ptc_origin_see(struct ptc_procs *ps, const struct ptc_sideband *s, const struct ptc_sb *sb,
		   struct ptc_err *err);

/*
 * Behind the last record seen: open what @opts (may be NULL) names, and turn the
 * jitdumps into events of @s.
 */
int ptc_origin_prepare(struct ptc_procs *ps, struct ptc_sideband *s, const struct ptc_file *f,
		       const struct ptc_code_opts *opts, const struct ptc_tsc_clock *clock,
		       bool kernel_traced, struct ptc_err *err);

/* A mapping of executable memory, in the kernel or in the process @p. False: out of memory. */
bool ptc_origin_mmap(struct ptc_procs *ps, struct ptc_proc *p, const struct ptc_sb_mmap *m,
		     const struct ptc_build_id *id);

/* The function at @ip of @p at @time, and the offset into it. Lent until the next call. */
const char *ptc_origin_symbol(struct ptc_procs *ps, const struct ptc_proc *p, uint64_t ip,
			      uint64_t time, uint64_t *ret_off);

/* Has JIT code of @pid names that it got from @since to @time, or a perf-PID.map? */
bool ptc_origin_has_names(struct ptc_procs *ps, int32_t pid, uint64_t since, uint64_t time);

/* What is known of JIT code of @pid; made if need be. NULL: no memory. Lent until the next call. */
struct ptc_jit_names *ptc_origin_jit(struct ptc_origin *c, int32_t pid);

/*
 * What ran as @pid at @time: from *@ret_since to *@ret_until, both included. Not before all side
 * records were seen.
 */
void ptc_origin_life(struct ptc_origin *c, int32_t pid, uint64_t time, uint64_t *ret_since,
		     uint64_t *ret_until);

/* One line more to be said at the end. One that does not fit in memory is one less. */
void ptc_origin_remark(struct ptc_origin *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What is to be said at the end: lines up to NULL; NULL: none. */
const char *const *ptc_origin_remarks(struct ptc_procs *ps);

#endif
