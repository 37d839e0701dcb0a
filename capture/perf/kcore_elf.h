/* SPDX-License-Identifier: MIT */
/*
 * The ELF header of /proc/kcore, and of a copy of its code: memory as PT_LOAD
 * segments, no sections (fs/proc/kcore.c; elf(5)).
 */
#ifndef PTC_CAPTURE_PERF_KCORE_ELF_H
#define PTC_CAPTURE_PERF_KCORE_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

/* Memory from addr on, whose bytes are at off in the file. */
struct ptc_kcore_load {
	uint64_t addr, len, off;
};

enum {
	PTC_KCORE_EHDR = 64,
	/* Segments of a copy: the room in front of its bytes. */
	PTC_KCORE_SEGS_MAX = 1000,
	PTC_KCORE_ROOM = 64 << 10,
	PTC_KCORE_HEAD_MAX = 4 << 20,
};

/* How many bytes the program headers end at. @head: at least PTC_KCORE_EHDR bytes of the file. */
int ptc_kcore_head_len(struct ptc_cur head, size_t *ret, struct ptc_err *err);

/* The PT_LOAD segments; @head: what ptc_kcore_head_len says. *@ret is the caller's to free. */
int ptc_kcore_parse(struct ptc_cur head, struct ptc_kcore_load **ret, size_t *ret_n,
		    struct ptc_err *err);

/* The header of a copy with @n segments, PTC_KCORE_ROOM bytes. */
void ptc_kcore_put(struct ptc_buf *b, const struct ptc_kcore_load *loads, size_t n);

#endif
