/* SPDX-License-Identifier: MIT */
/*
 * Reads the rings of a source into a writer, and accounts for every byte.
 *
 * In one round each ring has a turn. A turn takes all sideband records, and of the trace
 * PTC_DRAIN_QUANTUM bytes plus the rest up to the next PSB. So a full ring does not delay the
 * others for long. The ring that goes first changes every round.
 */
#ifndef PTC_CAPTURE_SESSION_DRAIN_H
#define PTC_CAPTURE_SESSION_DRAIN_H

#include <poll.h>

#include "auxtrace/record/ledger.h"
#include "auxtrace/writer/writer.h"
#include "capture/rings/aux.h"
#include "capture/rings/aux_snapshot.h"
#include "capture/rings/ring.h"
#include "capture/session/record_scan.h"
#include "capture/snapshot/retained_records.h"
#include "capture/source/source.h"

/*
 * The watermark at which a ring of the usual size wakes us. Smaller writes do not fill large pages
 * of the page cache.
 */
enum { PTC_DRAIN_QUANTUM = 1 << 20 };

struct ptc_drain_ring;

struct ptc_drain {
	struct ptc_source *source; /* borrowed */
	struct ptc_writer *writer; /* borrowed */
	struct ptc_kept *kept;	   /* borrowed; takes the records instead of the writer; or NULL */
	struct ptc_drain_ring *rings;	/* owned */
	struct ptc_ledger_ring *ledger; /* owned; one for each ring */
	size_t n, first;		/* first: the ring that goes first in the next round */
	struct ptc_noted noted;
	bool snapshot;
	uint64_t snapshot_size;
	bool whole_packets;		/* Intel PT: cut the trace only before a PSB */
	uint64_t aux_bytes, data_bytes; /* written to the file or given to the writer */
	/* The disk is full: further bytes are read and counted, and then dropped. */
	bool full;
	bool packs; /* compression: sideband records reach the file only with the next mark */
	struct ptc_err why_full; /* the writer's error */
};

/*
 * Prepares to drain all rings of @source. @source and @opts must outlive @d. The source has
 * produced nothing yet. Call ptc_drain_release also after a failure.
 */
int ptc_drain_init(struct ptc_drain *d, struct ptc_source *source,
		   const struct ptc_record_opts *opts, struct ptc_err *err);
void ptc_drain_release(struct ptc_drain *d);

/* Counts wakeups from the poll results of the rings' descriptors, in ring order. */
void ptc_drain_woken(struct ptc_drain *d, const struct pollfd *fds);

/*
 * Drains one round, then writes a mark: all records before the mark are older than all records
 * after the next mark. @last: the producers have stopped, and everything is read. @snapshot: the
 * rings stand still, and their new trace is written. *@ret_more: some trace was left for the next
 * round.
 */
int ptc_drain_round(struct ptc_drain *d, bool last, bool snapshot, bool *ret_more,
		    struct ptc_err *err);

/*
 * Used with kept. Returns all that the AUX ring @i holds. The ring must stand still. Returns 0 if
 * ring @i has no trace.
 */
uint64_t ptc_drain_window(struct ptc_drain *d, size_t i, struct ptc_seg seg[2],
			  uint64_t *ret_start);

/* Completes the ledger after the last round, from the rings' heads and the source's account. */
void ptc_drain_close(struct ptc_drain *d);

#endif
