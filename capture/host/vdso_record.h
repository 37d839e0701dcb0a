/* SPDX-License-Identifier: MIT */
/* The vdso of this process: all 64-bit processes of this kernel have the same bytes. */
#ifndef PTC_CAPTURE_HOST_VDSO_RECORD_H
#define PTC_CAPTURE_HOST_VDSO_RECORD_H

#include "auxtrace/record/sideband.h"
#include "base/buf.h"

/*
 * If @mmap2 maps the vdso of a 64-bit process, appends TEXT_POKE records with the vdso's bytes
 * (doc/format.md, TEXT_POKE). @sample_type gives the trailer of @mmap2 and of the new records.
 */
void ptc_ownvdso_put(struct ptc_buf *b, const struct ptc_sb *mmap2, uint64_t sample_type);

#endif
