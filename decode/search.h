/* SPDX-License-Identifier: MIT */
/*
 * Where a file that was recorded is now. The build-id decides; a path alone is
 * believed only if the recording has no build-id.
 */
#ifndef PTC_DECODE_SEARCH_H
#define PTC_DECODE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "base/untrusted.h"
#include "ptcap/error.h"

struct ptc_debuginfod;
struct ptc_leftout;

/* Where to look. Zeroed: nowhere but at the path itself. */
struct ptc_search {
	char *symfs;		    /* owned; in front of every path; NULL: none */
	char *cache;		    /* owned; perf's build-id cache; NULL: none */
	char *osrelease;	    /* owned; of the recording; NULL: not known */
	struct ptc_debuginfod *web; /* owned; NULL: no server is asked */
	bool containers;	    /* look below the roots of processes that are still there */
	struct ptc_leftout
		*left; /* lent; what the memory budget had no room for; NULL: nobody asks */
};

/* @symfs, @cache, @osrelease may be NULL; cache then is perf's own. */
int ptc_search_init(struct ptc_search *s, const char *symfs, const char *cache,
		    const char *osrelease, struct ptc_err *err);
void ptc_search_release(struct ptc_search *s);

struct ptc_found {
	bool unpack;		  /* asked for: what is packed is unpacked, and fd is of that */
	struct ptc_leftout *left; /* lent; may be NULL: who is told of what is too large */
	int fd;			  /* owned by the caller; -1: nothing was found */
	char *path;
	size_t root; /* bytes of path that are the root it was found below: base/untrusted.h */
	uint64_t len;
	uint64_t held;		   /* of the memory budget, because fd is of what was unpacked */
	bool assumed;		   /* by its path alone */
	bool other;		   /* there was a file of that name, which is another one, */
	char *other_path;	   /* owned by the caller: here */
	struct ptc_build_id is_id; /* with this build-id; len 0: without one */
	bool special;		   /* the name is that of a FIFO, a device or the like */
	struct ptc_err why;	   /* code 0, or why the last file could not be opened */
	bool no_memory;
};

void ptc_found_release(struct ptc_found *f);

/*
 * The file recorded as @name (a path) with @id (len 0: not known) by process
 * @pid (-1: not known).
 */
void ptc_search_file(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		     int32_t pid, struct ptc_found *ret);

/*
 * The file of the kernel module recorded as @name: a path, which ends in ".ko"
 * or in that and how it is packed, or "[MODULE]". That is looked up in the
 * modules.dep of the recorded release. It may be that nothing is looked for.
 */
void ptc_search_module(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		       struct ptc_found *ret);

/* The file at @path itself, if it has @id. */
void ptc_search_path(const char *path, const struct ptc_build_id *id, struct ptc_found *ret);

/* What perf's cache has under @id as @leaf ("vdso", "elf"), whatever its name. */
void ptc_search_cache(const struct ptc_search *s, const struct ptc_build_id *id, const char *leaf,
		      struct ptc_found *ret);

/* The file of @id from a debuginfod server, if one is to be asked. */
void ptc_search_web(const struct ptc_search *s, const struct ptc_build_id *id,
		    struct ptc_found *ret);

/* Opens a regular file that is not empty, for reading. A descriptor, or a negative code. */
int ptc_search_open(const char *path, const struct ptc_untrusted *how, uint64_t *ret_len,
		    struct ptc_err *err);

/* What a file says of where its debug information went. */
struct ptc_debuglink {
	char name[256]; /* "": nothing */
	uint32_t crc;	/* of all of the other file */
};

/* A file as it was found: its name, of which the first @root bytes are its root. */
struct ptc_place_found {
	const char *path;
	size_t root;
};

/*
 * The separate debug file of @file: one of the same @id, or, if
 * one of both has none, one that @link names and whose CRC is right; else from a debuginfod server.
 * -1: none. *@ret_path, if not NULL: its name, the caller's to free.
 */
int ptc_search_debug(const struct ptc_search *s, struct ptc_place_found file,
		     const struct ptc_build_id *id, const struct ptc_debuglink *link,
		     char **ret_path);

/*
 * The alternate debug file (dwz) that @file refers to as @name, which may be relative, with @id.
 * -1: none.
 */
int ptc_search_alternate(const struct ptc_search *s, struct ptc_place_found file, const char *name,
			 const struct ptc_build_id *id);

/* Is the running kernel of the recording's release? */
bool ptc_search_same_release(const struct ptc_search *s);

#endif
