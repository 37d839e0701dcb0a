/* SPDX-License-Identifier: MIT */
/* Has a file names and source lines, and where? Finds debug files as symbols and lines do. */
#ifndef PTC_DECODE_ELF_DEBUG_STATE_H
#define PTC_DECODE_ELF_DEBUG_STATE_H

#include "decode/elf/file_search.h"

enum ptc_debug_has {
	PTC_DEBUG_UNREADABLE, /* no file, not ELF, or too large for the memory budget */
	PTC_DEBUG_EXPORTS,    /* at most the names that it exports */
	PTC_DEBUG_NAMES,      /* the names of its functions */
	PTC_DEBUG_LINES,      /* also source lines */
};

struct ptc_debug_state {
	enum ptc_debug_has has;
	char *path;		/* owned; the separate debug file; NULL: none was found */
	struct ptc_build_id id; /* of the file; len 0: none */
};

/* Looks at the file that process @pid sees as @name. */
void ptc_debug_state_find(const struct ptc_search *s, const char *name, int32_t pid,
			  struct ptc_debug_state *ret);
void ptc_debug_state_release(struct ptc_debug_state *d);

#endif
