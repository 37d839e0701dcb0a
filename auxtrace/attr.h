/* SPDX-License-Identifier: MIT */
/*
 * struct perf_event_attr <-> bytes, of any published size (64 bytes in VER0 to
 * what the vendored header has). The structure is naturally aligned and little
 * endian on the only machines we run on, so in memory it is the kernel's own.
 */
#ifndef PTC_AUXTRACE_ATTR_H
#define PTC_AUXTRACE_ATTR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

/*
 * Read an attr of @size bytes: what we know is taken, the rest is zeroed;
 * *ret_unknown says that bytes behind what we know are not zero. A size below
 * PERF_ATTR_SIZE_VER0 is PTC_E_FORMAT. @off is for the message.
 */
int ptc_attr_parse(struct ptc_cur bytes, uint64_t off, struct perf_event_attr *ret,
		   bool *ret_unknown, struct ptc_err *err);

/*
 * The size to store an attr with: PERF_ATTR_SIZE_VER7 (Linux 5.13, and what the
 * perf of Debian 12 takes at most), or more where a newer field is used.
 */
uint32_t ptc_attr_stored_size(const struct perf_event_attr *attr);

/* Append the attr as @size bytes (a published size); attr.size is written as @size. */
void ptc_attr_put(struct ptc_buf *b, const struct perf_event_attr *attr, uint32_t size);

#endif
