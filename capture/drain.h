/* SPDX-License-Identifier: MIT */
/*
 * The rings of a source, read into a writer; and the account of every byte of them.
 *
 * In a round each ring has its turn: all its side records, and of its trace PTC_DRAIN_QUANTUM
 * and what there is up to the next PSB, so that none waits for long because another is full. Whose
 * turn is first changes from round to round.
 */
#ifndef PTC_CAPTURE_DRAIN_H
#define PTC_CAPTURE_DRAIN_H

#include <poll.h>

#include "auxtrace/ledger.h"
#include "auxtrace/writer.h"
#include "capture/aux.h"
#include "capture/kept.h"
#include "capture/noted.h"
#include "capture/ring.h"
#include "capture/snapshot.h"
#include "capture/source.h"

/* What the usual ring wakes us for; smaller ones do not fill large pages of the page cache. */
enum { PTC_DRAIN_QUANTUM = 1 << 20 };

struct ptc_drain_ring;

struct ptc_drain {
	struct ptc_source *source;    /* lent */
	struct ptc_writer *writer;    /* lent */
	struct ptc_kept *kept;	      /* lent; who has the records instead of the writer, or NULL */
	struct ptc_drain_ring *rings; /* owned */
	struct ptc_ledger_ring *ledger; /* owned; of each ring */
	size_t n, first;		/* first: whose turn it is */
	struct ptc_noted noted;
	bool snapshot;
	uint64_t snapshot_size;
	bool whole_packets;		/* the trace is Intel PT's: cut in front of a PSB only */
	uint64_t aux_bytes, data_bytes; /* in the file, or on the way there */
	/* There is no room for more: what comes is read and counted, and gone. */
	bool full;
	bool packs;		 /* side records are in the file with the next mark only */
	struct ptc_err why_full; /* what the writer said */
};

/*
 * Of all rings of @source; both are lent, as is what the source lends. Nothing has been
 * produced yet. Release it whether this fails or not.
 */
int ptc_drain_init(struct ptc_drain *d, struct ptc_source *source,
		   const struct ptc_record_opts *opts, struct ptc_err *err);
void ptc_drain_release(struct ptc_drain *d);

/* What poll says of the rings' descriptors, in their order. */
void ptc_drain_woken(struct ptc_drain *d, const struct pollfd *fds);

/*
 * One round, and behind it a mark that all records before it are older than all behind the
 * next. @last: nothing is produced any more, and all of it is read. @snapshot: the rings stand
 * still, and what is new in them is written. *@ret_more: trace was left for the next round.
 */
int ptc_drain_round(struct ptc_drain *d, bool last, bool snapshot, bool *ret_more,
		    struct ptc_err *err);

/* With kept: all that ring @i holds, which stands still; 0: it has none. */
uint64_t ptc_drain_window(struct ptc_drain *d, size_t i, struct ptc_seg seg[2],
			  uint64_t *ret_start);

/* After the last round: what the rings' heads and the source say completes the ledger. */
void ptc_drain_close(struct ptc_drain *d);

#endif
