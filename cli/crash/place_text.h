/* SPDX-License-Identifier: MIT */
/* Places of code as text for the screen of `ptcap crash show`. */
#ifndef PTC_CLI_CRASH_PLACE_TEXT_H
#define PTC_CLI_CRASH_PLACE_TEXT_H

#include <stddef.h>

#include "ptcap/crash_place.h"

/*
 * Returns "write_null+0x4  prog_crash.c:32", or "raise+0x1b  libc.so.6", "get (inlined)  a.h:7",
 * "prog+0x1234", "0x666000 (not in a file)". The name is shortened, so that the text has at most
 * @width columns if possible. A width of SIZE_MAX shortens nothing. Caller frees the result, which
 * is not escaped. NULL: out of memory.
 */
char *ptc_place_text(const struct ptc_crash_place *p, size_t width);

/*
 * Returns only the function, or the address, as ptc_place_text. Template arguments and arguments of
 * the function are omitted if they do not fit @width. ptc_place_bare_name omits both in any case.
 */
char *ptc_place_name(const struct ptc_crash_place *p, size_t width);
char *ptc_place_bare_name(const struct ptc_crash_place *p, size_t width);

/* Returns the part of @path behind its folders. */
const char *ptc_path_base(const char *path);

#endif
