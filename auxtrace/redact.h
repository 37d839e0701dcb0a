/* SPDX-License-Identifier: MIT */
/*
 * What a recording has of arguments and environments, made zero: of the state of a crash the part
 * of the stack that the kernel filled when the program started, code that was copied from there,
 * the words of the command line in the header, and user stacks in samples. Nothing moves and no
 * size changes.
 */
#ifndef PTC_AUXTRACE_REDACT_H
#define PTC_AUXTRACE_REDACT_H

#include "auxtrace/reader.h"
#include "base/buf.h"

struct ptc_redact;

/*
 * Look through @f, which is lent, for where arguments and environments are. The auxiliary vector
 * of a state says it: AT_RANDOM leads to 16 bytes that are below all strings (create_elf_tables,
 * fs/binfmt_elf.c), and the strings go on to the end of that mapping. Without AT_RANDOM in a
 * mapping it is the whole of [stack]; without [stack] it is all memory of that process.
 */
int ptc_redact_new(const struct ptc_file *f, struct ptc_redact **ret, struct ptc_err *err);
void ptc_redact_free(struct ptc_redact *r);

/*
 * Returns how many bytes of @rec, of the recording that @r is of, are to be zero and are not. If
 * there are any, @b, empty, gets the record without them, with its header; check
 * ptc_buf_failed. 0: @b is left alone.
 */
uint64_t ptc_redact_record(const struct ptc_redact *r, const struct ptc_rec *rec,
			   struct ptc_buf *b);

/* The same for the feature @bit, whose bytes are @bytes: of CMDLINE each word but the first. */
uint64_t ptc_redact_feature(unsigned int bit, struct ptc_cur bytes, struct ptc_buf *b);

#endif
