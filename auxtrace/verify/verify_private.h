/* SPDX-License-Identifier: MIT */
/* Internals of ptc_verify, shared by its source files. */
#ifndef PTC_AUXTRACE_VERIFY_VERIFY_PRIVATE_H
#define PTC_AUXTRACE_VERIFY_VERIFY_PRIVATE_H

#include "auxtrace/reader/aux_join.h"
#include "auxtrace/reader/file_private.h"
#include "auxtrace/record/ledger.h"
#include "auxtrace/record/sample.h"
#include "auxtrace/record/sideband.h"
#include "ptcap/verify.h"

/* The first and the last of a set of times. last 0: the set is empty. */
struct ptc_verify_span {
	uint64_t first, last;
};

struct ptc_verify {
	const struct ptc_file *f;
	ptc_finding_fn *say;
	void *arg;
	struct ptc_verify_stats stats;
	/* Results of the pass over the records, for the checks after it. */
	struct ptc_index index;
	struct ptc_index sampled; /* trace in samples */
	struct ptc_aux_join join;
	struct ptc_buf again; /* a record, encoded again from its parsed form */
	struct ptc_buf ids;   /* u64 each: ids of ID_INDEX */
	uint64_t ids_off;     /* offset of the first ID_INDEX */
	bool has_info, has_conv, snapshot;
	bool lost; /* there are LOST records */
	struct ptc_pt_info info;
	struct ptc_time_conv conv;
	/* Offsets of TIME_CONV, and of the first AUX record. */
	uint64_t conv_off, aux_off;
	/* Times of SAMPLE; of AUX and ITRACE_START; of all records. */
	struct ptc_verify_span samples, traced, times;
	struct ptc_buf ledger; /* array of struct ptc_ledger_ring */
	/* Offset of the last ledger record with rings. */
	uint64_t ledger_off;
	/* Sum of the ledger's rings; losses counted from the records. */
	struct ptc_ledger_ring ledger_sum, seen;
	bool crashed; /* a signal killed the process crashed_pid */
	uint64_t crashed_pid;
	uint64_t inflated; /* expanded bytes of compressed records */
};

/* Report a finding of @check at @off. */
void ptc_verify_say(struct ptc_verify *v, const char *check, uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Report the error of a parser as a finding. */
void ptc_verify_say_err(struct ptc_verify *v, const char *check, const struct ptc_err *err);

/*
 * The checks. Each reports its findings. Those with a return value return 0, PTC_E_NO_MEMORY or
 * PTC_E_LIMIT.
 */
int ptc_verify_layout(struct ptc_verify *v, struct ptc_err *err);
void ptc_verify_attrs(struct ptc_verify *v);
void ptc_verify_features(struct ptc_verify *v);
int ptc_verify_record(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err);
/* Check a sample's trace; @attr is that of its event. */
int ptc_verify_sample_aux(struct ptc_verify *v, const struct ptc_rec *rec,
			  const struct perf_event_attr *attr, const struct ptc_sample *s,
			  struct ptc_err *err);
/* Check a HEADER_EVENT_TYPE record, which may be part of the ledger. */
int ptc_verify_take_ledger(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err);
/* Return whether the ledger says that queue @idx had trace that is not in the file. */
bool ptc_verify_is_missing(const struct ptc_verify *v, uint32_t idx);
/* To be called after all records. */
void ptc_verify_ledger(struct ptc_verify *v);
void ptc_verify_ids(struct ptc_verify *v);
int ptc_verify_trace(struct ptc_verify *v, struct ptc_err *err);
int ptc_verify_order(struct ptc_verify *v, struct ptc_err *err);
void ptc_verify_sampled(struct ptc_verify *v);
/* Check queues of snapshots. The AUX records must be sorted. */
void ptc_verify_snapshot(struct ptc_verify *v);
void ptc_verify_times(struct ptc_verify *v);
void ptc_verify_compressed(struct ptc_verify *v);

#endif
