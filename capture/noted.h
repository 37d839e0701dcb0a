/* SPDX-License-Identifier: MIT */
/*
 * What is learnt from the side records that pass through: losses, the time they
 * span, and the files whose build-ids the header will name.
 */
#ifndef PTC_CAPTURE_NOTED_H
#define PTC_CAPTURE_NOTED_H

#include "auxtrace/ledger.h"
#include "auxtrace/writer.h"
#include "base/buf.h"
#include "capture/samefile.h"
#include "ptcap/capture.h"
#include "ptcap/filecode.h"

/* A file that was mapped, as its MMAP2 says. */
struct ptc_noted_file {
	char *name;		/* owned */
	struct ptc_inode inode; /* ino 0: not known */
	struct ptc_build_id id; /* len 0: the record has none */
};

struct ptc_noted {
	uint64_t sample_type;	    /* of the records: their trailer */
	size_t time_at;		    /* in a sample, of whichever event; 0: it has none */
	uint64_t first_ns, last_ns; /* 0: no record with a time yet */
	uint64_t samples;	    /* of events, with trace or without */
	uint64_t forks;		    /* threads and processes born */
	bool keep_vdso;		    /* what it is, is to be said behind each of its mappings */
	struct ptc_buf pokes;	    /* that is, since the last ptc_buf_reset of whoever writes it */
	struct ptc_noted_file *files; /* owned; each once */
	size_t nfiles, cap;
};

void ptc_noted_init(struct ptc_noted *n, uint64_t sample_type);
void ptc_noted_release(struct ptc_noted *n);

/* Look at every record of the stream seg[0..1]. The losses they tell of are added to @ledger. */
int ptc_noted_scan(struct ptc_noted *n, const struct ptc_seg seg[2], struct ptc_ledger_ring *ledger,
		   struct ptc_err *err);

/* Is one of the files noted that whose code @c is? */
bool ptc_noted_has(const struct ptc_noted *n, const struct ptc_filecode *c);

/*
 * Write the BUILD_ID feature: of the files noted. It is that of the MMAP2 record, or else that of
 * the file of this name, if that is still the one with the inode that was mapped. Those without
 * one, or gone or replaced by now, are left out; so is the vdso: perf would look for it in its
 * cache only, instead of taking the one it has itself.
 */
int ptc_noted_write_build_ids(const struct ptc_noted *n, struct ptc_writer *w, struct ptc_err *err);

#endif
