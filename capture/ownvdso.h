/* SPDX-License-Identifier: MIT */
/* The vdso of this process: every 64-bit process of this kernel has the same bytes. */
#ifndef PTC_CAPTURE_OWNVDSO_H
#define PTC_CAPTURE_OWNVDSO_H

#include "auxtrace/sideband.h"
#include "base/buf.h"

/*
 * If @mmap2, a record with a trailer of @sample_type, maps the vdso of a 64-bit process,
 * append records like it that say what its bytes are (doc/format.md, TEXT_POKE).
 */
void ptc_ownvdso_put(struct ptc_buf *b, const struct ptc_sb *mmap2, uint64_t sample_type);

#endif
