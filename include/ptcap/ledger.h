/* SPDX-License-Identifier: MIT */
/*
 * The ledger at the end of a recording: what the kernel (or a software source) put into each
 * ring, what of that is in the file, and what became of the rest; and how long each event was
 * on. Layout: doc/format.md.
 */
#ifndef PTCAP_LEDGER_H
#define PTCAP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* event_id of the HEADER_EVENT_TYPE records that are a ledger: "ptcapLED". */
#define PTC_LEDGER_ID UINT64_C(0x44454c7061637470)

enum ptc_ledger_kind { /* of the entries of one record */
		       PTC_LEDGER_RINGS = 1,
		       PTC_LEDGER_EVENTS = 2,
		       PTC_LEDGER_CLOCKS = 3,
		       PTC_LEDGER_SOURCES = 4,
};

/* One ring pair. Bytes, if nothing else is said. */
struct ptc_ledger_ring {
	uint64_t idx;	  /* of its AUXTRACE records */
	int64_t cpu, tid; /* -1: any */
	/* The data ring: how far its head came; read by us; in the file. */
	uint64_t data_made, data_read, data_stored;
	uint64_t lost_records, lost_samples; /* that LOST and LOST_SAMPLES records count */
	uint64_t throttled;		     /* times that an event was held back */
	/*
	 * The AUX ring: how far its head came (0: not known, as of snapshots); read by us; in the
	 * file; overwritten before it was read; and, where the source counts what never fitted,
	 * that.
	 */
	uint64_t aux_made, aux_read, aux_stored, aux_overrun, aux_dropped;
	uint64_t truncated, partial, collisions; /* AUX records with those flags */
	uint64_t wakeups;			 /* times that the ring woke us */
	uint64_t restarts; /* times that its events were switched off and on, as it was full */
};

/* One event, as it was read at the end. */
struct ptc_ledger_event {
	uint64_t id;
	uint64_t enabled_ns, running_ns;
	uint64_t lost;	 /* records, as the kernel counts them for it (6.0 and later); else 0 */
	uint64_t failed; /* 1: in error state: it counted nothing from some point on */
};

/* One moment by two clocks, in ns. A recording has the first and the last of them. */
struct ptc_ledger_clock {
	uint64_t time_ns;      /* by the clock of the records */
	uint64_t monotonic_ns; /* by CLOCK_MONOTONIC, which jitdumps use */
};

/* What a software source knows of the program, whatever became of the trace. */
struct ptc_ledger_source {
	uint64_t insns, transfers; /* that it made */
	/*
	 * Transfers in circles of direct jumps and calls, without a branch that makes a packet.
	 * Intel PT cannot show how often a thread went round, so these are in no decoder's list.
	 */
	uint64_t unshown;
};

/* The entries of one record. */
struct ptc_ledger {
	uint32_t kind;	   /* enum ptc_ledger_kind; one that is not known has no entries */
	uint32_t size;	   /* bytes of an entry: a newer writer's may have more numbers */
	struct ptc_cur at; /* lent; ptc_ledger_next_* take them */
};

/*
 * Is @rec part of a ledger? Returns 1; 0 if it is another record; or PTC_E_FORMAT.
 */
PTC_API int ptc_ledger_parse(const struct ptc_rec *rec, struct ptc_ledger *ret,
			     struct ptc_err *err);

/* Take the next entry. False: no more, or not of that kind. Numbers that it does not have are 0. */
PTC_API bool ptc_ledger_next_ring(struct ptc_ledger *l, struct ptc_ledger_ring *ret);
PTC_API bool ptc_ledger_next_event(struct ptc_ledger *l, struct ptc_ledger_event *ret);
PTC_API bool ptc_ledger_next_clock(struct ptc_ledger *l, struct ptc_ledger_clock *ret);
PTC_API bool ptc_ledger_next_source(struct ptc_ledger *l, struct ptc_ledger_source *ret);

/* A number of an entry: its name (static), and its value. */
struct ptc_ledger_field {
	const char *name;
	uint64_t value;
	bool is_signed; /* the value is an int64_t */
};
/* The @i-th number of an entry. False: no more. */
PTC_API bool ptc_ledger_ring_field(const struct ptc_ledger_ring *r, size_t i,
				   struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_event_field(const struct ptc_ledger_event *e, size_t i,
				    struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_clock_field(const struct ptc_ledger_clock *c, size_t i,
				    struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_source_field(const struct ptc_ledger_source *s, size_t i,
				     struct ptc_ledger_field *ret);

#ifdef __cplusplus
}
#endif
#endif
