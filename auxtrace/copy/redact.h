/* SPDX-License-Identifier: MIT */
/*
 * Redaction: sets arguments and environments in a recording to zero. Affected: in crash states the
 * part of the stack that the kernel filled at program start, and saved code copied from there; the
 * words of the command line in the header; user stacks in samples. No data move, and no size
 * changes.
 */
#ifndef PTC_AUXTRACE_COPY_REDACT_H
#define PTC_AUXTRACE_COPY_REDACT_H

#include "auxtrace/reader/reader.h"
#include "base/buf.h"

struct ptc_redact;

/*
 * Search @f, which is borrowed, for the addresses of arguments and environments. In the auxiliary
 * vector of a crash state, AT_RANDOM points to 16 bytes below all strings (create_elf_tables,
 * fs/binfmt_elf.c). The strings extend to the end of that mapping. If AT_RANDOM is in no mapping,
 * the area is the whole of [stack]. Without [stack] it is all memory of that process.
 */
int ptc_redact_new(const struct ptc_file *f, struct ptc_redact **ret, struct ptc_err *err);
void ptc_redact_free(struct ptc_redact *r);

/*
 * Redact @rec, a record of @r's recording. Returns how many non-zero bytes must be zeroed. If there
 * are any, the changed record with its header is put into @b, which must be empty. The caller
 * checks ptc_buf_failed. On return value 0, @b is unchanged.
 */
uint64_t ptc_redact_record(const struct ptc_redact *r, const struct ptc_rec *rec,
			   struct ptc_buf *b);

/*
 * Redact the feature @bit with the bytes @bytes, in the same way: CMDLINE keeps only the first
 * word.
 */
uint64_t ptc_redact_feature(unsigned int bit, struct ptc_cur bytes, struct ptc_buf *b);

#endif
