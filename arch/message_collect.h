/* SPDX-License-Identifier: MIT */
/*
 * Collects the memory that holds the message of a runtime, in a process that aborts itself, and the
 * frames of a Python program. The memory is little: a saved state has it in addition to the stacks.
 */
#ifndef PTC_ARCH_MESSAGE_COLLECT_H
#define PTC_ARCH_MESSAGE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/memory_view.h"

enum {
	PTC_MESSAGE_ROOTS = 8,
	PTC_MESSAGE_RANGES = 2560,
	PTC_MESSAGE_BYTES = 64 << 10, /* limit for messages, and again for Python's frames */
	PTC_MESSAGE_AREAS = 1024,     /* libraries that are searched */
};

struct ptc_message_area {
	uint64_t start, end;
	unsigned int python; /* minor version, if these are CPython's; otherwise 0 */
};

/* Where to search. */
struct ptc_message_search {
	struct ptc_memory_view view;
	uint64_t fs_base, sp, r14;			  /* of the thread */
	bool aborts;					  /* search messages, too */
	struct ptc_message_area areas[PTC_MESSAGE_AREAS]; /* variables of libraries; ascending */
	size_t nareas;
};

/* A message, or a part of it: see enum ptc_crash_message_kind in ptcap/crash.h. */
struct ptc_message_root {
	uint64_t kind, addr;
};

struct ptc_message_range {
	uint64_t addr;
	size_t len;
};

struct ptc_message_found {
	struct ptc_message_root roots[PTC_MESSAGE_ROOTS];
	struct ptc_message_range ranges[PTC_MESSAGE_RANGES]; /* in any order; may overlap */
	size_t nroots, nranges, bytes;
};

/*
 * Add a mapping to the areas, if it has variables of a library or program. Mappings must come in
 * ascending order. @prot: PROT_*. @name: as in /proc/PID/maps, "" if the mapping has no file.
 */
void ptc_message_add_map(struct ptc_message_search *s, uint64_t start, uint64_t end, uint64_t prot,
			 const char *name);

/* Find the messages and Python's frames, and the memory that their readers need. Fills @ret. */
void ptc_message_collect(const struct ptc_message_search *s, struct ptc_message_found *ret);

/* --- Python's frames, of one thread after the other --- */

/* The interpreter of a process. It stays at its place while the process runs. */
struct ptc_message_python {
	uint64_t runtime;   /* address of _PyRuntime */
	unsigned int minor; /* version 3.minor */
};

/* Search the areas of @s for an interpreter. Returns false if there is none. */
bool ptc_message_find_python(const struct ptc_message_search *s, struct ptc_message_python *ret);

/* Collect the frames of the thread with s->fs_base, and nothing else. Fills @ret. */
void ptc_message_collect_python(const struct ptc_message_search *s,
				const struct ptc_message_python *p, struct ptc_message_found *ret);

#endif
