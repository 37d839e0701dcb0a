/* SPDX-License-Identifier: MIT */
/* Inside of ptc_verify: what its parts share. */
#ifndef PTC_AUXTRACE_VERIFY_PARTS_H
#define PTC_AUXTRACE_VERIFY_PARTS_H

#include "auxtrace/aux_join.h"
#include "auxtrace/header.h"
#include "auxtrace/ledger.h"
#include "auxtrace/sample.h"
#include "auxtrace/sideband.h"
#include "auxtrace/verify.h"

/* From the first to the last of some times. last 0: there was none. */
struct ptc_verify_span {
	uint64_t first, last;
};

struct ptc_verify {
	const struct ptc_file *f;
	ptc_finding_fn *say;
	void *arg;
	struct ptc_verify_stats stats;
	/* What the pass over the records leaves for those behind it. */
	struct ptc_index index;
	struct ptc_index sampled; /* trace in samples */
	struct ptc_aux_join join;
	struct ptc_buf again; /* a record, put as it was understood */
	struct ptc_buf ids;   /* u64 each: of ID_INDEX */
	uint64_t ids_off;     /* of the first ID_INDEX */
	bool has_info, has_conv, snapshot;
	bool lost; /* there are LOST records */
	struct ptc_pt_info info;
	struct ptc_time_conv conv;
	uint64_t conv_off, aux_off;		       /* of TIME_CONV; of the first AUX */
	struct ptc_verify_span samples, traced, times; /* SAMPLE; AUX and ITRACE_START; all */
	struct ptc_buf ledger;			       /* struct ptc_ledger_ring each */
	uint64_t ledger_off;			       /* of its last record with rings */
	struct ptc_ledger_ring ledger_sum, seen; /* what it says, added up; what the records say */
	bool crashed;				 /* a signal killed a process: this one */
	uint64_t crashed_pid;
	uint64_t inflated; /* bytes of records that were compressed */
};

/* A finding of @check at @off. */
void ptc_verify_say(struct ptc_verify *v, const char *check, uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same of what a parser said. */
void ptc_verify_say_err(struct ptc_verify *v, const char *check, const struct ptc_err *err);

/* Each reports what it finds; those that return something: 0, or no memory, or a limit. */
int ptc_verify_layout(struct ptc_verify *v, struct ptc_err *err);
void ptc_verify_attrs(struct ptc_verify *v);
void ptc_verify_features(struct ptc_verify *v);
int ptc_verify_record(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err);
/* A sample's trace; @attr is of its event. */
int ptc_verify_sample_aux(struct ptc_verify *v, const struct ptc_rec *rec,
			  const struct perf_event_attr *attr, const struct ptc_sample *s,
			  struct ptc_err *err);
/* A HEADER_EVENT_TYPE record, which may be part of the ledger. */
int ptc_verify_take_ledger(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err);
/* Does the ledger say that trace of queue @idx was made that is not there? */
bool ptc_verify_is_missing(const struct ptc_verify *v, uint32_t idx);
/* Once all the records are seen. */
void ptc_verify_ledger(struct ptc_verify *v);
void ptc_verify_ids(struct ptc_verify *v);
int ptc_verify_trace(struct ptc_verify *v, struct ptc_err *err);
int ptc_verify_order(struct ptc_verify *v, struct ptc_err *err);
void ptc_verify_sampled(struct ptc_verify *v);
/* Queues of snapshots; the AUX records are sorted. */
void ptc_verify_snapshot(struct ptc_verify *v);
void ptc_verify_times(struct ptc_verify *v);
void ptc_verify_compressed(struct ptc_verify *v);

#endif
