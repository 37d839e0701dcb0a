/* SPDX-License-Identifier: MIT */
/*
 * Gets files by build-id from debuginfod servers, if the user named some in DEBUGINFOD_URLS. Uses
 * elfutils' client library, which is loaded on first use.
 */
#ifndef PTC_DECODE_ELF_DEBUGINFOD_H
#define PTC_DECODE_ELF_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/record.h"

struct ptc_debuginfod {
	bool tried;
	void *lib, *client; /* owned; NULL: not available */
	size_t fetched;	    /* files found on a server, or in the client's cache */
};

/* Returns NULL if DEBUGINFOD_URLS names no server, or if out of memory. */
struct ptc_debuginfod *ptc_debuginfod_new(void);
void ptc_debuginfod_free(struct ptc_debuginfod *d);

/*
 * Returns the path of the file with @id in the client's cache: the debug file if @debug, else the
 * program or library itself. Caller frees the path. NULL: not available. One thread at a time.
 */
char *ptc_debuginfod_get(struct ptc_debuginfod *d, const struct ptc_build_id *id, bool debug);

#endif
