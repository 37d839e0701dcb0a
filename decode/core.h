/* SPDX-License-Identifier: MIT */
/*
 * Memory that was saved: the core of a process (core(5)), or a copy of
 * /proc/kcore. Both are ELF files whose PT_LOAD segments have contents.
 */
#ifndef PTC_DECODE_CORE_H
#define PTC_DECODE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "ptcap/crash.h"
#include "ptcap/error.h"

struct ptc_codefile;
struct ptc_codefiles;

/* A segment with contents. */
struct ptc_core_load {
	uint64_t addr, len, off;
	struct ptc_codefile *file; /* lent; what was used of it; NULL: nothing yet */
};

/* A file that was mapped (NT_FILE). */
struct ptc_core_map {
	uint64_t start, end, off; /* off in bytes */
	const char *name;	  /* lent */
};

/* What was mapped, whether there are contents or not. */
struct ptc_core_area {
	uint64_t start, end;
	uint32_t prot; /* PROT_* */
};

/* A thread (NT_PRSTATUS), the one that was killed first. */
struct ptc_core_thread {
	uint32_t tid, signo;
	uint64_t regs[PTC_REG_COUNT];
};

enum { PTC_CORE_SIGINFO = 128 }; /* bytes */

struct ptc_core {
	char *path; /* owned */
	int fd;
	uint64_t len;
	int32_t pid;		     /* -1: it does not say */
	struct ptc_core_load *loads; /* owned; ascending */
	size_t nloads, loads_cap;
	struct ptc_core_map *maps; /* owned; ascending */
	size_t nmaps, maps_cap;
	struct ptc_core_area *areas; /* owned; in the file's order */
	size_t nareas, areas_cap;
	struct ptc_core_thread *threads; /* owned */
	size_t nthreads, threads_cap;
	const uint8_t *siginfo; /* lent by notes: PTC_CORE_SIGINFO bytes; NULL: none */
	uint8_t *notes;		/* owned */
	bool used;
};

struct ptc_untrusted;

/* Memory of what a file may claim to hold. */
enum { PTC_CORE_LOADS_MAX = 1 << 17, PTC_CORE_NOTES_MAX = 64 << 20 };

/* @how: how @path is opened. PTC_E_FORMAT: not a core of x86-64. A core that is cut is used as far
 * as it goes. */
int ptc_core_open(const char *path, const struct ptc_untrusted *how, struct ptc_core **ret,
		  struct ptc_err *err);
void ptc_core_free(struct ptc_core *c);

/* Where the first segment behind @addr begins; UINT64_MAX if there is none. */
uint64_t ptc_core_next(const struct ptc_core *c, uint64_t addr);

/* Up to @len bytes of the memory at @addr; returns how many there are, without a hole. */
size_t ptc_core_read(const struct ptc_core *c, uint64_t addr, uint8_t *ret, size_t len);

/* The file that was mapped at @addr, or NULL. */
const struct ptc_core_map *ptc_core_map_at(const struct ptc_core *c, uint64_t addr);

/*
 * The build-id of the file mapped as @m, from its first page, if that is in
 * the core. Returns 1, or 0.
 */
int ptc_core_build_id(const struct ptc_core *c, const struct ptc_core_map *m,
		      struct ptc_build_id *ret);

/*
 * What the core has from @addr on, at most @len bytes: a code file of @s,
 * called @name if it is new, and the offset in it. Returns how many bytes; 0
 * if none, or no memory.
 */
uint64_t ptc_core_code(struct ptc_core *c, struct ptc_codefiles *s, const char *name, uint64_t addr,
		       uint64_t len, struct ptc_codefile **ret, uint64_t *ret_off);

#endif
