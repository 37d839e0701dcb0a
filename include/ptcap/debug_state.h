/* SPDX-License-Identifier: MIT */
/*
 * Finds whether a program or library has names and source lines, and where. Debug files are
 * searched as the decoder searches them: by build-id and by debuglink, below a root folder and in
 * perf's build-id cache. No server is asked.
 */
#ifndef PTCAP_DEBUG_STATE_H
#define PTCAP_DEBUG_STATE_H

#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Debug information of a file, in ascending order. */
enum ptc_debug_has {
	PTC_DEBUG_UNREADABLE, /* no file, not ELF, or too large for the memory budget */
	PTC_DEBUG_EXPORTS,    /* at most the names that it exports */
	PTC_DEBUG_NAMES,      /* the names of its functions */
	PTC_DEBUG_LINES,      /* also source lines */
};

/* The debug information of a file. The library lends it, and a later version may append members. */
struct ptc_debug_state {
	enum ptc_debug_has has;
	const char *path;	/* the separate debug file; NULL: none was found */
	struct ptc_build_id id; /* of the file; len 0: none */
};

/* Where files are searched. */
struct ptc_debug_search;

/*
 * Begin to search below the folder @symfs, for example "/proc/PID/root". NULL: "/". The caller owns
 * *@ret. PTC_E_NO_MEMORY.
 */
PTC_API int ptc_debug_search_new(const char *symfs, struct ptc_debug_search **ret,
				 struct ptc_err *err);
/* @s may be NULL. */
PTC_API void ptc_debug_search_free(struct ptc_debug_search *s);

/*
 * Look at the file that process @pid sees as @name. -1: no process, only the path counts. Returns
 * its debug information, lent until the next call with @s, or until ptc_debug_search_free. Reads
 * untrusted files.
 */
PTC_API const struct ptc_debug_state *ptc_debug_search_file(struct ptc_debug_search *s,
							    const char *name, int32_t pid);

#ifdef __cplusplus
}
#endif
#endif
