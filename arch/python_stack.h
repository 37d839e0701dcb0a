/* SPDX-License-Identifier: MIT */
/* The Python functions that a thread is in, from the memory of CPython 3.11 to 3.13. */
#ifndef PTC_ARCH_PYTHON_STACK_H
#define PTC_ARCH_PYTHON_STACK_H

#include "arch/memory_view.h"
#include "arch/python_layout.h"

enum { PTC_PYTHON_FRAMES = 256, PTC_PYTHON_NAME = 1024 };

struct ptc_python_frame {
	char function[PTC_PYTHON_NAME]; /* UTF-8, "Class.method"; at most as much as fits */
	char file[PTC_PYTHON_NAME];	/* same; as Python has it, maybe relative */
	uint32_t line;			/* 0: not known */
};

/* Starts with ptc_python_stack_start(). */
struct ptc_python_stack {
	const struct ptc_memory_view *view; /* borrowed, as layout */
	const struct ptc_python_layout *layout;
	uint64_t next;		      /* address of the next frame; 0: none */
	uint64_t code_type, str_type; /* all frames have the same; 0: no frame so far */
	size_t n, read;		      /* frames given, structures read */
	uint64_t mark;		      /* an earlier frame: a cycle comes back to it */
	bool cut;		      /* there are more frames, or the memory is damaged */
};

/* Start at the innermost frame of the thread whose PyThreadState is at @thread. */
void ptc_python_stack_start(struct ptc_python_stack *s, const struct ptc_memory_view *v,
			    const struct ptc_python_layout *l, uint64_t thread);

/* Get the next frame, towards the caller. Returns false after the last one. */
bool ptc_python_stack_next(struct ptc_python_stack *s, struct ptc_python_frame *ret);

#endif
