/* SPDX-License-Identifier: MIT */
/*
 * Convert struct perf_event_attr to and from bytes, for all published sizes: from 64 bytes (VER0)
 * to the size in the vendored header. The structure is naturally aligned and little endian on x86,
 * the only supported machine, so the memory layout is the kernel's.
 */
#ifndef PTC_AUXTRACE_RECORD_ATTR_H
#define PTC_AUXTRACE_RECORD_ATTR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

/*
 * Parse an attr. Known fields are copied, and fields that @bytes does not have are 0. *ret_unknown:
 * bytes after the known fields are not zero. PTC_E_FORMAT: the size is below PERF_ATTR_SIZE_VER0,
 * or larger than @bytes. @off is for the message.
 */
int ptc_attr_parse(struct ptc_cur bytes, uint64_t off, struct perf_event_attr *ret,
		   bool *ret_unknown, struct ptc_err *err);

/*
 * Returns the size to store an attr with: PERF_ATTR_SIZE_VER7 (Linux 5.13, the largest that perf of
 * Debian 12 accepts), or more if a newer field is used.
 */
uint32_t ptc_attr_stored_size(const struct perf_event_attr *attr);

/* Append the attr as @size bytes, a published size. attr.size is written as @size. */
void ptc_attr_put(struct ptc_buf *b, const struct perf_event_attr *attr, uint32_t size);

#endif
