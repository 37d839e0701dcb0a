/* SPDX-License-Identifier: MIT */
/*
 * The records that perf itself makes, typed: PERF_RECORD_USER_TYPE_START and
 * up. Layouts: tools/lib/perf/include/perf/event.h. The words of AUXTRACE_INFO
 * are typed in pt_info.h.
 */
#ifndef PTC_AUXTRACE_USERREC_H
#define PTC_AUXTRACE_USERREC_H

#include "auxtrace/attr.h"
#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/cpumap.h"
#include "auxtrace/feature.h"
#include "auxtrace/record.h"
#include "auxtrace/schedstat.h"

enum {
	PTC_EVENT_TYPE_NAME_MAX = 64,	 /* MAX_EVENT_NAME */
	PTC_AUXTRACE_ERROR_MSG_MAX = 64, /* MAX_AUXTRACE_ERROR_MSG */
	PTC_THREAD_COMM_MAX = 16,	 /* perf_record_thread_map_entry.comm */
	PTC_BPF_PROG_NAME_MAX = 512,	 /* BPF_PROG_NAME_LEN */
	PTC_BPF_KEY_MAX = 64,		 /* BPF_METADATA_KEY_LEN */
	PTC_BPF_VALUE_MAX = 256,	 /* BPF_METADATA_VALUE_LEN */
};

enum { /* EVENT_UPDATE: PERF_EVENT_UPDATE__* */
       PTC_UPDATE_UNIT = 0,
       PTC_UPDATE_SCALE = 1,
       PTC_UPDATE_NAME = 2,
       PTC_UPDATE_CPUS = 3,
};

enum { /* STAT_CONFIG: PERF_STAT_CONFIG_TERM__* */
       PTC_STAT_AGGR_MODE = 0,
       PTC_STAT_INTERVAL = 1, /* ms */
       PTC_STAT_SCALE = 2,
};

struct ptc_user_attr { /* HEADER_ATTR: an event of a pipe */
	struct perf_event_attr attr;
	bool unknown_bytes; /* the file's attr has more than we know */
	struct ptc_cur ids; /* lent; u64 each */
};

struct ptc_user_event_type { /* HEADER_EVENT_TYPE; perf stopped writing it in 2012 */
	uint64_t event_id;
	const char *name; /* lent */
};

struct ptc_user_tracing_data { /* its text follows the record: ptc_rec_trailing */
	uint32_t size;
};

struct ptc_user_id_index {
	uint64_t n;
	struct ptc_cur entries; /* lent; ptc_id_index_next takes them */
	struct ptc_cur guests;	/* of the same number; empty in a record without guests */
};

struct ptc_id_index_entry {
	uint64_t id;
	uint64_t idx;	     /* of the ring */
	int64_t cpu, tid;    /* -1: any */
	int64_t machine_pid; /* guest: the process that runs it, else 0 */
	int64_t vcpu;	     /* -1: none; 0 without guests */
};

struct ptc_user_auxtrace_info {
	uint32_t type;	      /* PTC_AUXTRACE_TYPE_* */
	struct ptc_cur words; /* lent; u64 each, as that type has them */
};

struct ptc_user_auxtrace_error {
	uint32_t type, code; /* type 1: instruction trace */
	int32_t cpu, pid, tid;
	uint32_t fmt; /* 0: no time; 1: time; 2: machine_pid and vcpu too */
	uint64_t ip, time;
	const char *msg; /* lent */
	int32_t machine_pid, vcpu;
};

struct ptc_user_thread_map {
	uint64_t n;
	struct ptc_cur entries; /* lent; ptc_thread_map_next */
};

struct ptc_thread_map_entry {
	int64_t tid;
	char comm[PTC_THREAD_COMM_MAX + 1];
};

struct ptc_user_stat_config {
	uint64_t n;
	struct ptc_cur entries; /* lent; ptc_stat_config_next */
};

struct ptc_stat_config_entry {
	uint64_t tag, val; /* tag: PTC_STAT_* */
};

struct ptc_user_stat {
	uint64_t id;
	int32_t cpu, thread;	/* thread: index into the THREAD_MAP */
	uint64_t val, ena, run; /* count; ns */
};

struct ptc_user_stat_round {
	uint64_t type; /* 0: interval, 1: final */
	uint64_t time; /* ns */
};

struct ptc_user_event_update {
	uint64_t type; /* PTC_UPDATE_* */
	uint64_t id;
	const char *text;	 /* UNIT, NAME: lent */
	double scale;		 /* SCALE */
	struct ptc_cpu_map cpus; /* CPUS */
	struct ptc_cur other;	 /* of another type: lent bytes */
};

struct ptc_user_time_conv {
	uint64_t shift, mult, zero;
	bool is_long; /* what follows is there: older perfs end here */
	uint64_t cycles, mask;
	bool cap_user_time_zero, cap_user_time_short;
};

struct ptc_user_feature {    /* HEADER_FEATURE: a header feature of a pipe */
	uint64_t id;	     /* PTC_FEAT_* */
	struct ptc_cur data; /* lent; as feature.h reads it. Empty: the mark of the last one */
};

struct ptc_user_compressed { /* COMPRESSED and COMPRESSED2 */
	struct ptc_cur data; /* lent; a part of one zstd stream, without padding */
};

struct ptc_user_bpf_metadata {
	const char *prog_name; /* lent */
	uint64_t n;
	struct ptc_cur entries; /* lent; ptc_bpf_metadata_next */
};

struct ptc_bpf_metadata_entry {
	const char *key, *value; /* lent */
};

struct ptc_user {
	uint64_t off;  /* in the file */
	uint32_t type; /* PTC_REC_* */
	uint16_t misc;
	union { /* FINISHED_ROUND and FINISHED_INIT have nothing */
		struct ptc_user_attr attr;
		struct ptc_user_event_type event_type;
		struct ptc_user_tracing_data tracing_data;
		struct ptc_build_id_entry build_id; /* misc as in the record */
		struct ptc_user_id_index id_index;
		struct ptc_user_auxtrace_info auxtrace_info;
		struct ptc_auxtrace auxtrace; /* its trace follows: ptc_rec_trailing */
		struct ptc_user_auxtrace_error auxtrace_error;
		struct ptc_user_thread_map thread_map;
		struct ptc_cpu_map cpu_map;
		struct ptc_user_stat_config stat_config;
		struct ptc_user_stat stat;
		struct ptc_user_stat_round stat_round;
		struct ptc_user_event_update event_update;
		struct ptc_user_time_conv time_conv;
		struct ptc_user_feature feature;
		struct ptc_user_compressed compressed;
		struct ptc_user_bpf_metadata bpf_metadata;
		struct ptc_schedstat schedstat; /* SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN */
	} u;
};

/*
 * Type a record of perf's: HEADER_ATTR to SCHEDSTAT_DOMAIN. Returns 1; 0 for
 * another type (ret->type, off, misc are set, nothing else); or PTC_E_FORMAT.
 * Strings and bytes are lent from the record; what is counted has been held
 * against the record's size.
 */
int ptc_user_parse(const struct ptc_rec *rec, struct ptc_user *ret, struct ptc_err *err);

/*
 * Append @u as a whole record: the inverse of parse. What follows a record
 * (ptc_rec_trailing) is the caller's to write. Counts are taken from the parts
 * (@n is not used). What is too long for its field, or lent in parts of a
 * wrong size, fails @b.
 */
void ptc_user_put(struct ptc_buf *b, const struct ptc_user *u);

/* Take the next entry. False: no more. */
bool ptc_id_index_next(struct ptc_user_id_index *x, struct ptc_id_index_entry *ret);
bool ptc_thread_map_next(struct ptc_user_thread_map *m, struct ptc_thread_map_entry *ret);
bool ptc_stat_config_next(struct ptc_user_stat_config *s, struct ptc_stat_config_entry *ret);
bool ptc_bpf_metadata_next(struct ptc_user_bpf_metadata *m, struct ptc_bpf_metadata_entry *ret);

/* Append one entry as it stands in its record; those of guests stand together, behind the others.
 */
void ptc_id_index_put_entry(struct ptc_buf *b, const struct ptc_id_index_entry *e);
void ptc_id_index_put_guest(struct ptc_buf *b, const struct ptc_id_index_entry *e);

#endif
