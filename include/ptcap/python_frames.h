/* SPDX-License-Identifier: MIT */
/*
 * The Python functions that a thread is in, from the saved memory of CPython 3.11 to 3.13. The
 * report that gives the frames owns them, and all strings.
 */
#ifndef PTCAP_PYTHON_FRAMES_H
#define PTCAP_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_python_frames;

/* Returns the number of frames; 0: the thread does not run Python. Frame 0 is the innermost. */
PTC_API size_t ptc_python_frames_count(const struct ptc_python_frames *f);
/* Returns whether the state does not have all frames: outermost frames are missing. */
PTC_API bool ptc_python_frames_are_cut(const struct ptc_python_frames *f);

/*
 * Return what Python knows of frame @i, which must be below the count. The name of the function is
 * UTF-8, "Class.method", and not escaped. The file is as Python has it, maybe relative. The line is
 * 0 if it is not known.
 */
PTC_API const char *ptc_python_frames_function(const struct ptc_python_frames *f, size_t i);
PTC_API const char *ptc_python_frames_file(const struct ptc_python_frames *f, size_t i);
PTC_API uint32_t ptc_python_frames_line(const struct ptc_python_frames *f, size_t i);

#ifdef __cplusplus
}
#endif
#endif
