/* SPDX-License-Identifier: MIT */
/*
 * Part of a recording: the records and pieces of trace of some cpus, threads or
 * a span of time. What is needed to make sense of them stays, whoever it is of:
 * mappings, names, forks, exits, code; what has no cpu, tid or time; perf's own
 * records; and where there is trace, who ran when.
 */
#ifndef PTC_AUXTRACE_SELECT_H
#define PTC_AUXTRACE_SELECT_H

#include "auxtrace/reader.h"

struct ptc_select_opts {
	const uint32_t *cpus; /* ncpus 0: all */
	size_t ncpus;
	const int32_t *tids; /* ntids 0: all */
	size_t ntids;
	uint64_t from_ns, to_ns; /* [from_ns, to_ns); to_ns 0: no end */
};

static inline bool ptc_select_is_all(const struct ptc_select_opts *o)
{
	return !o->ncpus && !o->ntids && !o->from_ns && !o->to_ns;
}

struct ptc_select;

/*
 * Look through @f, which is lent, as are @opts' lists. Pieces of trace are kept
 * or dropped whole. A queue of a cpu goes with its cpu, one of a thread with its
 * tid. By time go those pieces of which AUX records say that they are outside;
 * what is in front of the first one inside stays back to a PSB, so that decoding
 * can begin. AUX records stay with their pieces; the ledger, which is of the whole, goes.
 */
int ptc_select_new(const struct ptc_file *f, const struct ptc_select_opts *opts,
		   struct ptc_select **ret, struct ptc_err *err);
void ptc_select_free(struct ptc_select *s);

/* Is the next record part of it? To be asked about every record, in file order. */
bool ptc_select_has(struct ptc_select *s, const struct ptc_rec *rec);

/*
 * The first and last time of a SAMPLE that was part of it, in a file without any of
 * a record that has a time. False: none had.
 */
bool ptc_select_times(const struct ptc_select *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns);

#endif
