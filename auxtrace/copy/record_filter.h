/* SPDX-License-Identifier: MIT */
/*
 * Selecting a part of a recording: the records and chunks of some CPUs, threads, or of a time
 * range. Records needed to interpret the selection are always kept: mappings, names, forks, exits,
 * code; records without cpu, tid or time; perf's own records; with trace also context switches.
 */
#ifndef PTC_AUXTRACE_COPY_RECORD_FILTER_H
#define PTC_AUXTRACE_COPY_RECORD_FILTER_H

#include "auxtrace/copy/trim.h"
#include "auxtrace/reader/reader.h"
#include "ptcap/cutout.h"

struct ptc_select_opts {
	const uint32_t *cpus; /* ncpus 0: all */
	size_t ncpus;
	const int32_t *tids; /* ntids 0: all */
	size_t ntids;
	uint64_t from_ns, to_ns;	 /* [from_ns, to_ns); to_ns 0: no end */
	const struct ptc_cutout *cutout; /* NULL: none; excludes the others */
};

static inline bool ptc_select_is_all(const struct ptc_select_opts *o)
{
	return !o->ncpus && !o->ntids && !o->from_ns && !o->to_ns && !o->cutout;
}

struct ptc_select;

/*
 * Scan @f. @f and @opts' lists are borrowed. AUXTRACE chunks are kept or dropped as a whole. A
 * CPU's queue is selected by its CPU, a thread's queue by its tid. By time, chunks that are outside
 * according to AUX records are dropped. Chunks before the first one inside are kept back to a PSB,
 * so that decoding can start there. AUX records are kept with their chunks. The ledger, which
 * describes the whole recording, is dropped.
 */
int ptc_select_new(const struct ptc_file *f, const struct ptc_select_opts *opts,
		   struct ptc_select **ret, struct ptc_err *err);
void ptc_select_free(struct ptc_select *s);

/* Return whether the next record is selected. Must be called for every record, in file order. */
bool ptc_select_has(struct ptc_select *s, const struct ptc_rec *rec);

/*
 * With a cutout: returns the trace to keep of the queue of @rec, an AUXTRACE or AUX record that
 * ptc_select_has has just selected. NULL: the whole record.
 */
const struct ptc_trim *ptc_select_trim(const struct ptc_select *s, const struct ptc_rec *rec);

/*
 * Get the first and last time of the selected SAMPLE records. In a file without samples, those of
 * all selected records with a time. Returns false if none had a time.
 */
bool ptc_select_times(const struct ptc_select *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns);

#endif
