/* SPDX-License-Identifier: MIT */
/* Reads the frames of ptcap/python_frames.h. */
#ifndef PTC_DECODE_CRASH_PYTHON_FRAMES_H
#define PTC_DECODE_CRASH_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/python_stack.h"
#include "decode/crash/crash_state.h"
#include "ptcap/error.h"
#include "ptcap/python_frames.h"

struct ptc_python_frames {
	struct ptc_python_frame *items; /* owned; the innermost first; names are not escaped */
	size_t n, cap;
	bool cut; /* the state does not have all frames */
};

/* Limits for all frames that are read: a recording is not trusted. */
struct ptc_python_limits {
	uint64_t looks; /* at pieces of memory */
	size_t frames;
};

#define PTC_PYTHON_LIMITS ((struct ptc_python_limits){ UINT64_C(1) << 29, 1 << 15 })

/*
 * Read the frames of thread @tid of @d. There are none if that thread does not run Python. Reading
 * uses up @limits. @ret starts zeroed; the caller frees its items, also on failure. Returns 0 or
 * PTC_E_NO_MEMORY.
 */
int ptc_python_frames_read(const struct ptc_crash_state *d, uint64_t tid,
			   struct ptc_python_limits *limits, struct ptc_python_frames *ret,
			   struct ptc_err *err);

/* Returns true if both stacks have the same functions and lines. */
bool ptc_python_frames_are_same(const struct ptc_python_frames *a,
				const struct ptc_python_frames *b);

#endif
