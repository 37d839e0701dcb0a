/* SPDX-License-Identifier: MIT */
/*
 * The ELF header of /proc/kcore and of a copy of its code. Memory is stored as PT_LOAD segments,
 * without sections (fs/proc/kcore.c; elf(5)).
 */
#ifndef PTC_CAPTURE_PERF_KCORE_ELF_H
#define PTC_CAPTURE_PERF_KCORE_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

/* Memory from addr on, stored at off in the file. */
struct ptc_kcore_load {
	uint64_t addr, len, off;
};

enum {
	PTC_KCORE_EHDR = 64,
	/* Limit of a copy's segments, and size of the space for the header before its bytes. */
	PTC_KCORE_SEGS_MAX = 1000,
	PTC_KCORE_ROOM = 64 << 10,
	PTC_KCORE_HEAD_MAX = 4 << 20,
};

/*
 * Returns the offset at which the program headers end. @head: at least PTC_KCORE_EHDR bytes of the
 * file.
 */
int ptc_kcore_head_len(struct ptc_cur head, size_t *ret, struct ptc_err *err);

/*
 * Parses the PT_LOAD segments. @head has the length that ptc_kcore_head_len returned. Caller frees
 * *@ret.
 */
int ptc_kcore_parse(struct ptc_cur head, struct ptc_kcore_load **ret, size_t *ret_n,
		    struct ptc_err *err);

/* Appends the header of a copy with @n segments, PTC_KCORE_ROOM bytes. */
void ptc_kcore_put(struct ptc_buf *b, const struct ptc_kcore_load *loads, size_t n);

#endif
