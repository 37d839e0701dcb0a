/* SPDX-License-Identifier: MIT */
/*
 * The ledger at the end of a recording. For each ring: how much the kernel (or a software source)
 * wrote, how much of it is in the file, and where the rest was lost. For each event: how long it
 * was enabled. Also the processors of the machine. Layout: doc/format.md.
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

/* event_id of the HEADER_EVENT_TYPE records that hold a ledger: "ptcapLED" in little endian. */
#define PTC_LEDGER_ID UINT64_C(0x44454c7061637470)

enum ptc_ledger_kind { /* kind of all entries of one record */
		       PTC_LEDGER_RINGS = 1,
		       PTC_LEDGER_EVENTS = 2,
		       PTC_LEDGER_CLOCKS = 3,
		       PTC_LEDGER_SOURCES = 4,
		       PTC_LEDGER_PROCESSORS = 5,
};

/* One ring pair. Unless stated otherwise, the fields are bytes. */
struct ptc_ledger_ring {
	uint64_t idx;	  /* idx of its AUXTRACE records */
	int64_t cpu, tid; /* -1: any */
	/* Data ring: written by the kernel (its head); read by ptcap; stored in the file. */
	uint64_t data_made, data_read, data_stored;
	uint64_t lost_records, lost_samples; /* sums over LOST and LOST_SAMPLES records */
	uint64_t throttled;		     /* times that an event was throttled */
	/*
	 * AUX ring: written (its head; 0: not known, as with snapshots), read by ptcap, stored in
	 * the file, overwritten before it was read. aux_dropped: bytes that never fitted, if the
	 * source counts them.
	 */
	uint64_t aux_made, aux_read, aux_stored, aux_overrun, aux_dropped;
	uint64_t truncated, partial, collisions; /* AUX records with those flags */
	uint64_t wakeups;			 /* times that the ring woke ptcap */
	/* Times that its events were disabled and enabled again because it was full. */
	uint64_t restarts;
};

/* One event, read at the end of the recording. */
struct ptc_ledger_event {
	uint64_t id;
	uint64_t enabled_ns, running_ns;
	/* Lost records, by the kernel's count (Linux 6.0 and later); otherwise 0. */
	uint64_t lost;
	uint64_t failed; /* 1: in error state, so it counted nothing after some point */
};

/* One moment by two clocks, in ns. A recording has two: at its start and at its end. */
struct ptc_ledger_clock {
	uint64_t time_ns;      /* by the clock of the records */
	uint64_t monotonic_ns; /* by CLOCK_MONOTONIC, which jitdumps use */
};

/* Totals of a software source about the program, independent of trace losses. */
struct ptc_ledger_source {
	uint64_t insns, transfers; /* executed by the program */
	/*
	 * Branches in loops of direct jumps and calls only, without a branch that makes a packet.
	 * Intel PT cannot show the number of iterations, so no decoder lists these branches.
	 */
	uint64_t unshown;
};

/*
 * CPUs of the machine that are equal, according to /proc/cpuinfo. A hybrid processor has several
 * entries. The CPUs made the trace only if no software source recorded.
 */
struct ptc_ledger_processor {
	uint64_t cpu;  /* the lowest number of the CPUs */
	uint64_t cpus; /* number of CPUs */
	uint64_t family, model, stepping;
	/* Revision of the microcode. 0: the kernel names none. A hypervisor may name any number. */
	uint64_t microcode;
};

/* The entries of one record. */
struct ptc_ledger {
	uint32_t kind;	   /* enum ptc_ledger_kind; no entries for an unknown kind */
	uint32_t size;	   /* bytes of an entry; larger if a newer writer added numbers */
	struct ptc_cur at; /* borrowed; ptc_ledger_next_* take entries from it */
};

/*
 * Decode @rec if it is part of a ledger. Returns 1 and fills *@ret, 0 for any other record, or
 * PTC_E_FORMAT.
 */
PTC_API int ptc_ledger_parse(const struct ptc_rec *rec, struct ptc_ledger *ret,
			     struct ptc_err *err);

/*
 * Take the next entry. Returns false if there is none, or if @l is of another kind. Numbers that
 * the entry does not have are 0.
 */
PTC_API bool ptc_ledger_next_ring(struct ptc_ledger *l, struct ptc_ledger_ring *ret);
PTC_API bool ptc_ledger_next_event(struct ptc_ledger *l, struct ptc_ledger_event *ret);
PTC_API bool ptc_ledger_next_clock(struct ptc_ledger *l, struct ptc_ledger_clock *ret);
PTC_API bool ptc_ledger_next_source(struct ptc_ledger *l, struct ptc_ledger_source *ret);
PTC_API bool ptc_ledger_next_processor(struct ptc_ledger *l, struct ptc_ledger_processor *ret);

/* A number of an entry: its name (static) and its value. */
struct ptc_ledger_field {
	const char *name;
	uint64_t value;
	bool is_signed; /* the value is an int64_t */
};
/* Get number @i of an entry. Returns false if @i is too large. */
PTC_API bool ptc_ledger_ring_field(const struct ptc_ledger_ring *r, size_t i,
				   struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_event_field(const struct ptc_ledger_event *e, size_t i,
				    struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_clock_field(const struct ptc_ledger_clock *c, size_t i,
				    struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_source_field(const struct ptc_ledger_source *s, size_t i,
				     struct ptc_ledger_field *ret);
PTC_API bool ptc_ledger_processor_field(const struct ptc_ledger_processor *p, size_t i,
					struct ptc_ledger_field *ret);

#ifdef __cplusplus
}
#endif
#endif
