/* SPDX-License-Identifier: MIT */
/*
 * Files by build-id from debuginfod servers, if the user named some in
 * DEBUGINFOD_URLS. elfutils' client does it; it is loaded when first needed.
 */
#ifndef PTC_DECODE_DEBUGINFOD_H
#define PTC_DECODE_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/record.h"

struct ptc_debuginfod {
	bool tried;
	void *lib, *client; /* owned; NULL: not to be had */
	size_t fetched;	    /* files that were found there, or in the client's cache */
};

/* NULL: DEBUGINFOD_URLS names no server, so none is asked; or no memory. */
struct ptc_debuginfod *ptc_debuginfod_new(void);
void ptc_debuginfod_free(struct ptc_debuginfod *d);

/*
 * The file of @id, in the client's cache: the debug file, or the program or library itself. Its
 * path is the caller's to free. NULL: it is not to be had. One thread at a time.
 */
char *ptc_debuginfod_get(struct ptc_debuginfod *d, const struct ptc_build_id *id, bool debug);

#endif
