/* SPDX-License-Identifier: MIT */
/*
 * Origin of code: combines files, cores, the kernel's memory and jitdumps, so that a mapping
 * provides bytes.
 */
#ifndef PTC_DECODE_SIDEBAND_CODE_PROVIDER_H
#define PTC_DECODE_SIDEBAND_CODE_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/idmap.h"
#include "decode/image/codefile.h"
#include "decode/image/kernel.h"
#include "decode/image/text_symbols.h"
#include "decode/sideband/jitdump_load.h"
#include "decode/sideband/poked_pages.h"
#include "ptcap/decode.h"

/* Ends the message about a file that belongs to another user (ptc_untrusted_owner). */
#define PTC_ORIGIN_WAY_OUT "; decode as that user, or put a copy of your own below --symfs"

struct ptc_core;
struct ptc_file;
struct ptc_proc;
struct ptc_procs;
struct ptc_sideband;
struct ptc_tsc_clock;

/* Names of code of one process that is in no file. */
struct ptc_jit_names {
	int32_t pid;
	bool map_tried; /* perf-PID.map was tried */
	bool sorted;
	struct ptc_poked_pages poked; /* pages whose code is in the recording */
	struct ptc_text_symbols names;
};

/* A process began, or executed another program. */
struct ptc_life {
	int32_t pid;
	uint64_t time;
};

/* The code of a recording, and its names. All tables of processes share them. */
struct ptc_origin {
	struct ptc_codefiles files;
	uint64_t states; /* counter of all tables; see struct ptc_addrspace */
	struct ptc_kernel kernel;
	struct ptc_core *core;	    /* owned; NULL: none */
	struct ptc_jit_names *jits; /* owned; in order of arrival */
	size_t njits, jits_cap;
	struct ptc_idmap jit_places; /* indexes into jits, by pid */
	struct ptc_dumps dumps;
	struct ptc_life *lives; /* owned; sorted by pid, then time, by ptc_origin_life() */
	size_t nlives, lives_cap;
	bool lives_sorted;
	char **remarks; /* array and strings owned; ends with NULL */
	size_t nremarks, remarks_cap;
};

void ptc_origin_release(struct ptc_origin *c);

/*
 * Sets up the places where files are searched for. Call it before any record of @f is read. @opts
 * may be NULL.
 */
int ptc_origin_begin(struct ptc_origin *c, const struct ptc_file *f,
		     const struct ptc_code_opts *opts, struct ptc_err *err);

/*
 * Takes every sideband record, before any record is applied. Finds and reads the files of mappings,
 * so that later only a look-up is needed, and remembers jitdumps. What @sb lends must live as long
 * as @c.
 */
int ptc_origin_see(struct ptc_origin *c, const struct ptc_sideband *s, const struct ptc_sb *sb,
		   struct ptc_err *err);

/*
 * Call it after the last ptc_origin_see(), with the first table of the origin. Opens what @opts
 * (may be NULL) names, and turns the jitdumps into events of @s.
 */
int ptc_origin_prepare(struct ptc_procs *ps, struct ptc_sideband *s, const struct ptc_file *f,
		       const struct ptc_code_opts *opts, const struct ptc_tsc_clock *clock,
		       bool kernel_traced, struct ptc_err *err);

/* Maps executable memory in process @p. Returns false if out of memory. */
bool ptc_origin_mmap(struct ptc_origin *c, struct ptc_proc *p, const struct ptc_sb_mmap *m,
		     const struct ptc_build_id *id);

/*
 * Returns the name of the function at @ip of @p at @time, and the offset into the function. The
 * name is lent until the next call.
 */
const char *ptc_origin_symbol(const struct ptc_procs *ps, const struct ptc_proc *p, uint64_t ip,
			      uint64_t time, uint64_t *ret_off);

/* Returns true if JIT code of @pid got a name between @since and @time, or has a perf-PID.map. */
bool ptc_origin_has_names(struct ptc_origin *c, int32_t pid, uint64_t since, uint64_t time);

/*
 * Read the perf-PID.map @name ("/tmp/perf-PID.map"), with a NUL behind it: from the bundle, or
 * below
 * --symfs. Its owner must be trusted with our output: our own user, or root. The recording of a
 * bundle may be of another machine, where another process had this pid. So without --symfs the file
 * of this machine is not read then: PTC_E_NOT_EXIST.
 */
int ptc_origin_perf_map(const struct ptc_search *s, const char *name, struct ptc_buf *out,
			struct ptc_err *err);

/*
 * Returns the JIT names of @pid, created if needed. Lent until the next call. NULL: out of memory.
 */
struct ptc_jit_names *ptc_origin_jit(struct ptc_origin *c, int32_t pid);

/*
 * Gets the lifetime of the program that ran as @pid at @time: from *@ret_since to *@ret_until, both
 * included. Call it only after all sideband records were seen.
 */
void ptc_origin_life(struct ptc_origin *c, int32_t pid, uint64_t time, uint64_t *ret_since,
		     uint64_t *ret_until);

/* Adds a line to report at the end. Out of memory: the line is dropped. */
void ptc_origin_remark(struct ptc_origin *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the lines to report at the end, terminated by NULL. NULL: no lines. */
const char *const *ptc_origin_remarks(const struct ptc_procs *ps);

#endif
