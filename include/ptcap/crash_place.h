/* SPDX-License-Identifier: MIT */
/* Where an address is in a process whose state was saved: its file, function and source line. */
#ifndef PTCAP_CRASH_PLACE_H
#define PTCAP_CRASH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A place. Initialize with PTC_CRASH_PLACE_INIT: a library of another version sets only the members
 * that it and the caller know. Names are not escaped. The report owns them.
 */
struct ptc_crash_place {
	size_t size; /* sizeof(struct ptc_crash_place) */
	uint64_t ip;
	uint64_t code;	      /* address that was looked up: ip, or the call in front of it */
	const char *function; /* lent until the next call with the report; NULL: not known */
	uint64_t offset;      /* in function */
	const char *file;     /* file mapped there, "/usr/lib/libc.so.6"; NULL: none */
	uint64_t file_offset;
	const char *source; /* lent until the report is freed; NULL: not known */
	int line;
	bool inlined;	   /* function, source and line are those of an inlined function */
	size_t nfunctions; /* at least 1 */
	/*
	 * The functions at ip, the innermost first: inlined functions, and last the real function.
	 * If the debug information does not tell, there is one, with function, source and line as
	 * above. Names are lent as function.
	 */
	struct ptc_inline_frame functions[PTC_INLINE_MAX];
};

/* Nothing is known. */
#ifdef __cplusplus
static inline struct ptc_crash_place ptc_crash_place_init(void)
{
	struct ptc_crash_place ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_CRASH_PLACE_INIT ptc_crash_place_init()
#else
/* clang-format off */
#define PTC_CRASH_PLACE_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_crash_place)                                             \
	}
/* clang-format on */
#endif

/*
 * Sets function, source and line of @p to those of its function @level, which must be below
 * @p->nfunctions. 0 is the innermost. The offset does not count for an inlined function.
 */
PTC_API void ptc_crash_place_level(struct ptc_crash_place *p, size_t level);

#ifdef __cplusplus
}
#endif
#endif
