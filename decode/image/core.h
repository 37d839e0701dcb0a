/* SPDX-License-Identifier: MIT */
/*
 * Saved memory: the core of a process (core(5)), or a copy of /proc/kcore. Both are ELF files whose
 * PT_LOAD segments have contents.
 */
#ifndef PTC_DECODE_IMAGE_CORE_H
#define PTC_DECODE_IMAGE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "ptcap/crash.h"
#include "ptcap/cursor.h"
#include "ptcap/error.h"

struct ptc_codefile;
struct ptc_codefiles;

/* A segment with contents. */
struct ptc_core_load {
	uint64_t addr, len, off;
	struct ptc_codefile *file; /* lent; code file of the parts in use; NULL: none yet */
};

/* A file that was mapped (NT_FILE). */
struct ptc_core_map {
	uint64_t start, end, off; /* off in bytes */
	const char *name;	  /* lent */
};

/* A mapping, with or without contents. */
struct ptc_core_area {
	uint64_t start, end;
	uint32_t prot; /* PROT_* */
};

/* A thread (NT_PRSTATUS). The thread that was killed comes first. */
struct ptc_core_thread {
	uint32_t tid, signo;
	uint64_t regs[PTC_REG_COUNT];
};

enum { PTC_CORE_SIGINFO = 128 }; /* bytes */

struct ptc_core {
	char *path; /* owned */
	int fd;
	uint64_t len;
	int32_t pid;		     /* -1: not in the core */
	struct ptc_core_load *loads; /* owned; ascending */
	size_t nloads, loads_cap;
	struct ptc_core_map *maps; /* owned; ascending */
	size_t nmaps, maps_cap;
	struct ptc_core_area *areas; /* owned; in the file's order */
	size_t nareas, areas_cap;
	struct ptc_core_thread *threads; /* owned */
	size_t nthreads, threads_cap;
	const uint8_t *siginfo; /* lent from notes: PTC_CORE_SIGINFO bytes; NULL: none */
	struct ptc_cur auxv;	/* lent from notes; empty: none */
	uint8_t *notes;		/* owned */
	bool used;
};

struct ptc_untrusted;

/* Limits for the memory that a file may ask for. */
enum { PTC_CORE_LOADS_MAX = 1 << 17, PTC_CORE_NOTES_MAX = 64 << 20 };

/*
 * Open the core @path as @how says. PTC_E_FORMAT: not a core of x86-64. A truncated core is used as
 * far as it goes.
 */
int ptc_core_open(const char *path, const struct ptc_untrusted *how, struct ptc_core **ret,
		  struct ptc_err *err);
/* Same, of the open file @fd, which is closed with the core, also after a failure. @name: for
 * messages.
 */
int ptc_core_open_fd(int fd, uint64_t len, const char *name, struct ptc_core **ret,
		     struct ptc_err *err);
void ptc_core_free(struct ptc_core *c);

/* Returns the start of the first segment behind @addr, or UINT64_MAX. */
uint64_t ptc_core_next(const struct ptc_core *c, uint64_t addr);

/* Read up to @len bytes of memory at @addr. Returns how many bytes there are before a hole. */
size_t ptc_core_read(const struct ptc_core *c, uint64_t addr, uint8_t *ret, size_t len);

/* Returns the file that was mapped at @addr, or NULL. */
const struct ptc_core_map *ptc_core_map_at(const struct ptc_core *c, uint64_t addr);

/*
 * Find the build-id of the file mapped as @m, in its first page. Returns 1, or 0 if the core does
 * not have it.
 */
int ptc_core_build_id(const struct ptc_core *c, const struct ptc_core_map *m,
		      struct ptc_build_id *ret);

/*
 * Returns how many bytes the core has from @addr on, at most @len. Sets *@ret to the code file of
 * @s that has these bytes, and *@ret_off to the offset in it. A new code file is called @name.
 * Returns 0 if the core has none, or if out of memory.
 */
uint64_t ptc_core_code(struct ptc_core *c, struct ptc_codefiles *s, const char *name, uint64_t addr,
		       uint64_t len, struct ptc_codefile **ret, uint64_t *ret_off);

#endif
