/* SPDX-License-Identifier: MIT */
/*
 * Finds where a recorded file is now. The build-id decides. A path alone is trusted only if the
 * recording has no build-id. If the recording is in a bundle, the files of the bundle come first,
 * and a path on this machine is trusted only with a build-id.
 */
#ifndef PTC_DECODE_ELF_FILE_SEARCH_H
#define PTC_DECODE_ELF_FILE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "base/untrusted.h"
#include "ptcap/error.h"

struct ptc_bundle;
struct ptc_debuginfod;
struct ptc_omitted_data;

/* Places to search. Zeroed: only the path itself. */
struct ptc_search {
	char *symfs;		    /* owned; prefix of every path; NULL: none */
	char *cache;		    /* owned; perf's build-id cache; NULL: none */
	char *osrelease;	    /* owned; kernel release of the recording; NULL: not known */
	struct ptc_debuginfod *web; /* owned; NULL: no debuginfod server is asked */
	struct ptc_bundle *bundle;  /* lent; searched first; NULL: the recording is in no bundle */
	bool containers;	    /* also look below /proc/PID/root of processes that still run */
	struct ptc_omitted_data *left; /* lent; files above the memory budget; may be NULL */
};

/* @symfs, @cache and @osrelease may be NULL. @cache NULL: uses perf's own cache. */
int ptc_search_init(struct ptc_search *s, const char *symfs, const char *cache,
		    const char *osrelease, struct ptc_err *err);
void ptc_search_release(struct ptc_search *s);

struct ptc_found {
	bool unpack; /* input: unpack a packed file; then fd is the unpacked file */
	struct ptc_omitted_data *left; /* lent; may be NULL; gets files that are too large */
	int fd;			       /* owned by the caller; -1: not found */
	char *path;
	size_t root; /* length of the root below which it was found: base/untrusted.h */
	uint64_t len;
	uint64_t held;		   /* bytes held in the memory budget for an unpacked file */
	bool assumed;		   /* identified by its path alone */
	bool other;		   /* another file has that name, */
	char *other_path;	   /* owned by the caller: its path, */
	struct ptc_build_id is_id; /* and its build-id; len 0: none */
	bool special;		   /* the name is a FIFO, a device or the like */
	bool bundled;		   /* it is member @member of the bundle */
	size_t member;
	struct ptc_err why; /* code 0, or why the last file could not be opened */
	bool no_memory;
};

void ptc_found_release(struct ptc_found *f);

/*
 * Searches for the file recorded as @name (a path) with @id (len 0: not known) by process @pid (-1:
 * not known).
 */
void ptc_search_file(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		     int32_t pid, struct ptc_found *ret);

/*
 * Searches for the file of a kernel module. @name is a path, which ends in ".ko" or ".ko" and a
 * compression suffix, or "[MODULE]". "[MODULE]" is looked up in modules.dep of the recorded
 * release. If @name is no module, nothing is searched.
 */
void ptc_search_module(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		       struct ptc_found *ret);

/* Takes the file at @path itself, if it has @id. */
void ptc_search_path(const char *path, const struct ptc_build_id *id, struct ptc_found *ret);

/* Takes the file that the bundle or perf's cache has under @id as @leaf ("vdso", "elf"), by any
 * name. */
void ptc_search_cache(const struct ptc_search *s, const struct ptc_build_id *id, const char *leaf,
		      struct ptc_found *ret);

/* Gets the file with @id from a debuginfod server, if one is configured. */
void ptc_search_web(const struct ptc_search *s, const struct ptc_build_id *id,
		    struct ptc_found *ret);

/* Opens a regular, non-empty file for reading. Returns a descriptor, or a negative code. */
int ptc_search_open(const char *path, const struct ptc_untrusted *how, uint64_t *ret_len,
		    struct ptc_err *err);

/* Reference from a file to its separate debug information (.gnu_debuglink). */
struct ptc_debuglink {
	char name[256]; /* "": none */
	uint32_t crc;	/* of the whole debug file */
};

/* A file that was found. The first @root bytes of @path are its root. */
struct ptc_place_found {
	const char *path;
	size_t root;
};

/*
 * Opens the separate debug file of @file. It must have the same @id. If one of the two has no id,
 * it must be named by @link and have its CRC. Last, asks a debuginfod server. Returns -1 if there
 * is none. *@ret_path, if not NULL: its name, which the caller must free.
 */
int ptc_search_debug(const struct ptc_search *s, struct ptc_place_found file,
		     const struct ptc_build_id *id, const struct ptc_debuglink *link,
		     char **ret_path);

/*
 * Opens the alternate debug file (dwz) with @id that @file refers to as @name, which may be
 * relative. Returns -1 if there is none.
 */
int ptc_search_alternate(const struct ptc_search *s, struct ptc_place_found file, const char *name,
			 const struct ptc_build_id *id);

/* Returns true if the running kernel has the recording's release. */
bool ptc_search_same_release(const struct ptc_search *s);

#endif
