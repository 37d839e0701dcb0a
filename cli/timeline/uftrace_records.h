/* SPDX-License-Identifier: MIT */
/*
 * The records of uftrace's folder: a file "TID.dat" for each thread, with 16 bytes for each entry
 * and each end of a function. Only a part of the files is open or in memory.
 */
#ifndef PTC_CLI_TIMELINE_UFTRACE_RECORDS_H
#define PTC_CLI_TIMELINE_UFTRACE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "ptcap/error.h"

/*
 * LOST is not used: with it, uftrace 0.13 does not show the place, and writes invalid JSON in
 * `uftrace dump --chrome`.
 */
enum ptc_uftrace_type { PTC_UFTRACE_ENTRY, PTC_UFTRACE_EXIT, PTC_UFTRACE_LOST, PTC_UFTRACE_EVENT };

/* The address of an event of a program: the first of these numbers. */
#define PTC_UFTRACE_GAP UINT64_C(1000000)

/* Initialize with zeros, and the folder. */
struct ptc_uftrace_records {
	const char *folder;		/* borrowed */
	struct ptc_uftrace_file *files; /* owned; in the order of their first records */
	size_t nfiles, files_cap;
	struct ptc_idmap tids; /* indexes into files */
	size_t buffered;       /* bytes in all files' buffers */
};

void ptc_uftrace_records_release(struct ptc_uftrace_records *r);

/*
 * Appends a record. @depth: of the function; more than 1023 is written as 1023, which is the
 * greatest value of a record. @address: 48 bits; of an EVENT: its number.
 */
int ptc_uftrace_record(struct ptc_uftrace_records *r, int32_t tid, enum ptc_uftrace_type type,
		       uint32_t depth, uint64_t time, uint64_t address, struct ptc_err *err);

/* Writes the records in memory. */
int ptc_uftrace_records_flush(struct ptc_uftrace_records *r, struct ptc_err *err);

/* Returns the tid of file @i, from 0. There are r->nfiles files. */
int32_t ptc_uftrace_records_tid(const struct ptc_uftrace_records *r, size_t i);

#endif
