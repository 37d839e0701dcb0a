/* SPDX-License-Identifier: MIT */
/* Parses /proc/PID/maps. The caller supplies the text, so tests need no process. */
#ifndef PTC_CAPTURE_HOST_MAPS_H
#define PTC_CAPTURE_HOST_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_map {
	uint64_t start, end, off;
	uint64_t ino;
	uint32_t maj, min;
	uint32_t prot, flags; /* PROT_*, MAP_SHARED or MAP_PRIVATE */
	size_t name;	      /* offset into ptc_maps.text; "" if anonymous */
	uint64_t view;	      /* guest_maps.c: equal for equal mappings of the same file; 0: none */
};

struct ptc_maps {
	struct ptc_map *items; /* ascending by address */
	size_t n, cap;
	struct ptc_buf text;
	size_t tidied; /* guest_maps.c: bytes of text after the last tidying */
};

#define PTC_MAPS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0, PTC_BUF_INIT, 0                                                        \
	}

/* Reads PROC/PID/maps (@proc is "/proc", except in tests). Replaces the contents of @m. */
int ptc_maps_read(struct ptc_maps *m, const char *proc, pid_t pid, struct ptc_err *err);

/*
 * Parses @text of @len bytes, in the format of the kernel's show_map_vma (fs/proc/task_mmu.c).
 * PTC_E_FORMAT: a line is malformed.
 */
int ptc_maps_parse(struct ptc_maps *m, const char *text, size_t len, struct ptc_err *err);

void ptc_maps_release(struct ptc_maps *m);

static inline const char *ptc_map_name(const struct ptc_maps *m, const struct ptc_map *map)
{
	return (const char *)m->text.bytes + map->name;
}

/* Returns the mapping that contains @addr, or NULL. */
const struct ptc_map *ptc_maps_find(const struct ptc_maps *m, uint64_t addr);

#endif
