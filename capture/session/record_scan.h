/* SPDX-License-Identifier: MIT */
/*
 * Collects facts from the sideband records that pass through: losses, the time range, and the files
 * whose build-ids the header will list.
 */
#ifndef PTC_CAPTURE_SESSION_RECORD_SCAN_H
#define PTC_CAPTURE_SESSION_RECORD_SCAN_H

#include "auxtrace/record/ledger.h"
#include "auxtrace/writer/writer.h"
#include "base/buf.h"
#include "capture/host/mapped_file.h"
#include "ptcap/capture.h"
#include "ptcap/filecode.h"

/* A mapped file, as its MMAP2 record describes it. */
struct ptc_noted_file {
	char *name;		/* owned */
	struct ptc_inode inode; /* ino 0: unknown */
	struct ptc_build_id id; /* len 0: the record has no build-id */
};

struct ptc_noted {
	uint64_t sample_type; /* of the records: it describes their trailer */
	size_t time_at; /* offset of the time in a sample of any event; 0: samples have no time */
	uint64_t first_ns, last_ns; /* 0: no record with a time yet */
	uint64_t samples;	    /* SAMPLE records, of all events */
	uint64_t forks;		    /* new threads and processes */
	bool keep_vdso;		    /* after each mapping of the vdso, put its bytes into pokes */
	struct ptc_buf pokes; /* TEXT_POKE records for the vdso; the writer resets this buffer */
	struct ptc_noted_file *files; /* owned; without duplicates */
	size_t nfiles, cap;
};

void ptc_noted_init(struct ptc_noted *n, uint64_t sample_type);
void ptc_noted_release(struct ptc_noted *n);

/* Scans every record of the stream seg[0..1]. Adds the losses they report to @ledger. */
int ptc_noted_scan(struct ptc_noted *n, const struct ptc_seg seg[2], struct ptc_ledger_ring *ledger,
		   struct ptc_err *err);

/* Returns true if the file that @c has code of is among the collected files. */
bool ptc_noted_has(const struct ptc_noted *n, const struct ptc_filecode *c);

/*
 * Writes the BUILD_ID feature for the collected files. A file's build-id comes from its MMAP2
 * record. Without one it is read from the file of that name, if that file still has the mapped
 * inode. Files without a build-id, and files that are gone or replaced, are left out. The vdso is
 * left out too: perf would look for it only in its cache and not use its own vdso.
 */
int ptc_noted_write_build_ids(const struct ptc_noted *n, struct ptc_writer *w, struct ptc_err *err);

#endif
