/* SPDX-License-Identifier: MIT */
/* Writes the parts of a file around the sideband records and the trace. */
#ifndef PTC_CAPTURE_SESSION_FILE_METADATA_H
#define PTC_CAPTURE_SESSION_FILE_METADATA_H

#include <stddef.h>
#include <sys/types.h>

#include "auxtrace/record/ledger.h"
#include "auxtrace/writer/writer.h"
#include "base/buf.h"
#include "capture/session/record_scan.h"
#include "capture/source/source.h"

struct ptc_filing {
	const struct ptc_record_opts *opts; /* borrowed */
	struct ptc_source_desc desc;
	struct ptc_source_id *ids; /* owned; grouped by event */
	size_t nids;
	struct ptc_ledger_clock begin; /* zeros: the records' clock is not known */
	pid_t pid; /* the command, or the first process attached to; 0: all processes */
};

/*
 * Initialises from @source, which has @nrings rings. Keeps pointers into @source until the release.
 */
int ptc_filing_init(struct ptc_filing *f, const struct ptc_record_opts *opts,
		    struct ptc_source *source, size_t nrings, struct ptc_err *err);
void ptc_filing_release(struct ptc_filing *f);

/* The event for sideband records: its sample_type, and one of its ids. */
uint64_t ptc_filing_sample_type(const struct ptc_filing *f);
uint64_t ptc_filing_side_id(const struct ptc_filing *f);

/*
 * Written first: the events. Then, once pid is set, the prologue, which includes the records
 * @running.
 */
int ptc_filing_attrs(const struct ptc_filing *f, struct ptc_writer *w, struct ptc_err *err);
int ptc_filing_prologue(const struct ptc_filing *f, struct ptc_writer *w,
			const struct ptc_buf *running, struct ptc_err *err);

/*
 * Both calls learn of events that @source has opened since ptc_filing_init. ptc_filing_late also
 * adds their ids to a file that is already being written.
 */
int ptc_filing_refresh(struct ptc_filing *f, struct ptc_source *source, struct ptc_err *err);
int ptc_filing_late(struct ptc_filing *f, struct ptc_source *source, struct ptc_writer *w,
		    struct ptc_err *err);

/* Parts of the ledger; all borrowed. */
struct ptc_account {
	const struct ptc_ledger_ring *rings;
	size_t nrings;
	const struct ptc_ledger_event *events;
	size_t nevents;
	struct ptc_ledger_source source; /* insns 0: the source does not count instructions */
};

/*
 * Written last: the ledger, with begin and current time in both clocks, and the processors of the
 * machine. Then the header features. @noted supplies the build-ids and the time range.
 */
int ptc_filing_ledger(const struct ptc_filing *f, struct ptc_writer *w,
		      const struct ptc_account *account, struct ptc_err *err);
int ptc_filing_features(const struct ptc_filing *f, struct ptc_writer *w,
			const struct ptc_noted *noted, struct ptc_err *err);

#endif
