/* SPDX-License-Identifier: MIT */
/* Tells the code of a user from the C library and the runtimes of languages. */
#ifndef PTC_DECODE_CRASH_USER_CODE_H
#define PTC_DECODE_CRASH_USER_CODE_H

#include <stdbool.h>

#include "decode/crash/crash.h"

/*
 * Return whether @p is in the C library, the loader, the runtime of a language, or the vdso: see
 * runtime_frames.h. A static program contains libraries. So a function without a source line is not
 * the user's if other code of the file has source lines (r->lined_file). In a program without
 * source lines, names of the C library's internal functions count, too.
 */
bool ptc_crash_is_runtime(const struct ptc_crash_report *r, const struct ptc_crash_place *p);

/*
 * Sets @p to the innermost of its functions that is the user's: with ptc_crash_place_level. Returns
 * false, and leaves @p as it is, if all its functions are of a runtime.
 */
bool ptc_crash_find_user_code(const struct ptc_crash_report *r, struct ptc_crash_place *p);

#endif
