/* SPDX-License-Identifier: MIT */
/* What stands around the side records and the trace of a file. */
#ifndef PTC_CAPTURE_FILING_H
#define PTC_CAPTURE_FILING_H

#include <stddef.h>
#include <sys/types.h>

#include "auxtrace/ledger.h"
#include "auxtrace/writer.h"
#include "base/buf.h"
#include "capture/noted.h"
#include "capture/source.h"

struct ptc_filing {
	const struct ptc_record_opts *opts; /* lent */
	struct ptc_source_desc desc;
	struct ptc_source_id *ids; /* owned; event by event */
	size_t nids;
	struct ptc_ledger_clock begin; /* zeros: the clock of the records is not known */
	pid_t pid; /* of the command, or the first process attached to; 0: all there are */
};

/* What @source, with @nrings rings, says of itself; in force until it is released. */
int ptc_filing_init(struct ptc_filing *f, const struct ptc_record_opts *opts,
		    struct ptc_source *source, size_t nrings, struct ptc_err *err);
void ptc_filing_release(struct ptc_filing *f);

/* The event for side records: its sample_type, and an id of it. */
uint64_t ptc_filing_sample_type(const struct ptc_filing *f);
uint64_t ptc_filing_side_id(const struct ptc_filing *f);

/* In front: the events, then (pid is set) what a recording begins with, @running in it. */
int ptc_filing_attrs(const struct ptc_filing *f, struct ptc_writer *w, struct ptc_err *err);
int ptc_filing_prologue(const struct ptc_filing *f, struct ptc_writer *w,
			const struct ptc_buf *running, struct ptc_err *err);

/*
 * Events that @source has opened since: what comes behind knows them. In a file that is begun their
 * ids are added.
 */
int ptc_filing_refresh(struct ptc_filing *f, struct ptc_source *source, struct ptc_err *err);
int ptc_filing_late(struct ptc_filing *f, struct ptc_source *source, struct ptc_writer *w,
		    struct ptc_err *err);

/* What an account is made of, lent. */
struct ptc_account {
	const struct ptc_ledger_ring *rings;
	size_t nrings;
	const struct ptc_ledger_event *events;
	size_t nevents;
	struct ptc_ledger_source source; /* no instructions: the source does not count them */
};

/*
 * Behind: the account, with the moments of the beginning and of now by both clocks, and the
 * features, some of them of what @noted has seen.
 */
int ptc_filing_ledger(const struct ptc_filing *f, struct ptc_writer *w,
		      const struct ptc_account *account, struct ptc_err *err);
int ptc_filing_features(const struct ptc_filing *f, struct ptc_writer *w,
			const struct ptc_noted *noted, struct ptc_err *err);

#endif
