/* SPDX-License-Identifier: MIT */
/*
 * Where CPython keeps a thread's frames. Versions 3.11 and 3.12 have fixed layouts, of the headers
 * cpython/pystate.h, internal/pycore_runtime.h and internal/pycore_frame.h. Version 3.13 describes
 * its layout itself: _PyRuntime begins with a struct _Py_DebugOffsets.
 */
#ifndef PTC_ARCH_PYTHON_LAYOUT_H
#define PTC_ARCH_PYTHON_LAYOUT_H

#include "arch/memory_view.h"

enum {
	PTC_PYTHON_OLDEST = 11,	   /* 3.11 */
	PTC_PYTHON_DESCRIBED = 13, /* 3.13, the newest */
	PTC_PYTHON_FRAME = 80,	   /* bytes of a frame, without variables */
	PTC_PYTHON_CODE = 256,	   /* limit of a code object, in bytes, without its code */
	PTC_PYTHON_NO_CFRAME = 0,  /* the thread itself has the current frame */
};

/* Offsets in bytes. */
struct ptc_python_layout {
	uint32_t head;	       /* from _PyRuntime: the first interpreter */
	uint32_t interp_next;  /* of an interpreter: the next one */
	uint32_t threads;      /* of an interpreter: the first thread */
	uint32_t next, interp; /* of a thread */
	uint32_t id;	       /* the thread's pthread_self() */
	uint32_t cframe;       /* pointer to the structure with the current frame */
	uint32_t current;      /* in that structure, or in the thread */
	uint32_t frame_code, frame_instr, frame_previous, frame_owner;
	uint32_t qualname, file, linetable, first_line, code; /* of a code object */
	uint32_t ascii, compact; /* beginning of the characters of a string */
};

/*
 * Get the minor version of the CPython that the mapped file @name belongs to: 11 for
 * "/usr/bin/python3.11" or ".../libpython3.11.so.1.0". 0: another file, or an unknown version.
 */
unsigned int ptc_python_version(const char *name);

/*
 * Fill @ret for version 3.@minor. @runtime: address of _PyRuntime, needed for 3.13. Returns false
 * if the version is not known, or if the memory has no such description.
 */
bool ptc_python_layout(const struct ptc_memory_view *v, unsigned int minor, uint64_t runtime,
		       struct ptc_python_layout *ret);

/*
 * Search [@from, @to), variables of version 3.@minor, for _PyRuntime. The symbol is not needed.
 */
bool ptc_python_find_runtime(const struct ptc_memory_view *v, unsigned int minor, uint64_t from,
			     uint64_t to, uint64_t *ret);

/* Get the PyThreadState of the thread with this pthread_self(), which is its fs_base. */
bool ptc_python_find_thread(const struct ptc_memory_view *v, const struct ptc_python_layout *l,
			    uint64_t runtime, uint64_t fs_base, uint64_t *ret);

#endif
