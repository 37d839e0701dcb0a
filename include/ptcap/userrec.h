/* SPDX-License-Identifier: MIT */
/*
 * The records that perf itself makes, typed: PERF_RECORD_USER_TYPE_START and
 * up. Layouts: tools/lib/perf/include/perf/event.h. The words of AUXTRACE_INFO
 * are typed by ptc_pt_info_parse.
 */
#ifndef PTCAP_USERREC_H
#define PTCAP_USERREC_H

#include <linux/perf_event.h>

#include "ptcap/feature.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* AUXTRACE: a piece of trace. Layout: tools/lib/perf/include/perf/event.h. */

enum { PTC_AUXTRACE_SIZE = 48 }; /* the record itself, without its payload */

struct ptc_auxtrace {
	uint64_t size;	 /* payload bytes, behind the record; a multiple of 8 as written by perf */
	uint64_t offset; /* of the payload in the AUX stream */
	uint64_t reference; /* TSC when it was copied: gives TSC packets their top byte */
	uint32_t idx;	    /* queue */
	int32_t tid, cpu;   /* -1: none */
};

/*
 * Sets of CPUs as perf writes them in CPU_MAP and EVENT_UPDATE records:
 * struct perf_record_cpu_map_data of tools/lib/perf/include/perf/event.h.
 */

enum { /* perf_record_cpu_map_data.type */
       PTC_CPU_MAP_CPUS = 0,
       PTC_CPU_MAP_MASK = 1,
       PTC_CPU_MAP_RANGE = 2,
};

struct ptc_cpu_map {
	uint16_t type;	      /* PTC_CPU_MAP_*: how it is written */
	struct ptc_cur cpus;  /* CPUS: lent; u16 each, 0xffff is -1 */
	uint16_t word_size;   /* MASK: 4 or 8 bytes */
	struct ptc_cur mask;  /* MASK: lent; words of that size, lowest CPU first */
	bool any;	      /* RANGE: -1 is in it */
	uint16_t first, last; /* RANGE: both are in it */
	uint32_t at;	      /* how far ptc_cpu_map_next is; 0 at the start */
};

/*
 * Take a map from the front of @c. False (nothing moved): too few bytes for
 * what it claims, a word size other than 4 and 8, a range that ends before it
 * starts, or an unknown type.
 */
PTC_API bool ptc_cpu_map_parse(struct ptc_cur *c, struct ptc_cpu_map *ret);

/* The next CPU, in ascending order but for CPUS, which has its own; -1: any CPU. False: no more. */
PTC_API bool ptc_cpu_map_next(struct ptc_cpu_map *m, int32_t *ret);

/*
 * SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN: lines of /proc/schedstat as counters.
 * Layout and names: tools/lib/perf/include/perf/schedstat-v15.h to -v17.h.
 */

struct ptc_schedstat {
	uint64_t time; /* jiffies */
	uint32_t cpu;
	uint16_t version;	 /* of /proc/schedstat: 15 to 17 have names here */
	uint16_t domain;	 /* SCHEDSTAT_DOMAIN: its number; 0 else */
	bool of_domain;		 /* SCHEDSTAT_DOMAIN */
	struct ptc_cur counters; /* lent; ptc_schedstat_next */
	unsigned int at;	 /* how far ptc_schedstat_next is; 0 at the start */
};

/*
 * Read the body of either record (@of_domain says which). False: it is too
 * short, or for the counters of its version; counters of a version we do not
 * know are lent all the same.
 */
PTC_API bool ptc_schedstat_parse(struct ptc_cur body, bool of_domain, struct ptc_schedstat *ret);

/* The next counter: its name (static), and its value. NULL: no more, or a version we do not know.
 */
PTC_API const char *ptc_schedstat_next(struct ptc_schedstat *s, uint64_t *ret);

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

struct ptc_user_attr {	      /* HEADER_ATTR: an event of a pipe */
	__extension__ union { /* C99 has no unions without a name */
		struct perf_event_attr attr;
		uint8_t attr_room[PTC_ATTR_ROOM];
	};
	bool unknown_bytes; /* the file's attr has more than we know */
	struct ptc_cur ids; /* lent; u64 each */
};

struct ptc_user_event_type { /* HEADER_EVENT_TYPE; perf stopped writing it in 2012 */
	uint64_t event_id;
	const char *name;			/* lent; or it is in room, of the same structure */
	char room[PTC_EVENT_TYPE_NAME_MAX + 1]; /* of a name that does not end in the record */
	/* Lent; behind the name, if event_id is PTC_LEDGER_ID, PTC_CRASH_ID or PTC_FILECODE_ID: see
	 * there. */
	struct ptc_cur more;
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
PTC_API int ptc_user_parse(const struct ptc_rec *rec, struct ptc_user *ret, struct ptc_err *err);

/* Take the next entry. False: no more. */
PTC_API bool ptc_id_index_next(struct ptc_user_id_index *x, struct ptc_id_index_entry *ret);
PTC_API bool ptc_thread_map_next(struct ptc_user_thread_map *m, struct ptc_thread_map_entry *ret);
PTC_API bool ptc_stat_config_next(struct ptc_user_stat_config *s,
				  struct ptc_stat_config_entry *ret);
PTC_API bool ptc_bpf_metadata_next(struct ptc_user_bpf_metadata *m,
				   struct ptc_bpf_metadata_entry *ret);

/*
 * AUXTRACE_INFO for Intel PT, and TIME_CONV.
 * Words: tools/perf/util/intel-pt.h, enum (facts are listed in doc/format.md).
 */

enum { PTC_AUXTRACE_TYPE_INTEL_PT = 1, PTC_AUXTRACE_TYPE_INTEL_BTS = 2 };

/* perf time = zero + TSC * mult >> shift (perf_event_mmap_page, cap_user_time_zero). */
struct ptc_time_conv {
	uint16_t shift;
	uint32_t mult; /* 0: TSC cannot be converted */
	uint64_t zero;
};

/* Modulo 2^64. Where mult is 0: @tc->zero, and 0. */
PTC_API uint64_t ptc_tsc_to_ns(const struct ptc_time_conv *tc, uint64_t tsc);
PTC_API uint64_t ptc_ns_to_tsc(const struct ptc_time_conv *tc, uint64_t ns);

struct ptc_pt_info {
	uint32_t type;	   /* PTC_AUXTRACE_TYPE_*; the words are read for INTEL_PT only */
	uint32_t pmu_type; /* equals attr.type of the PT event */
	struct ptc_time_conv time;
	bool cap_user_time_zero;	 /* time is valid */
	uint64_t tsc_bit, noretcomp_bit; /* masks in attr.config */
	uint64_t have_sched_switch;	 /* 0 none, 1 tracepoint, 2 SWITCH, 3 SWITCH_CPU_WIDE */
	bool snapshot_mode;
	bool per_cpu_mmaps;
	uint64_t mtc_bit, mtc_freq_bits; /* masks in attr.config; 0 if not recorded */
	uint32_t tsc_ctc_n,
		tsc_ctc_d; /* TSC ticks per CTC tick = n / d (CPUID 15h ebx / eax); 0: unknown */
	uint64_t cyc_bit;
	uint32_t max_nonturbo_ratio;
	const char *filter;   /* lent; "" if none */
	bool cap_event_trace; /* the CPU can trace interrupts and the like (CFE, EVD) */
};

/*
 * The record AUXTRACE_INFO. The filter is lent from it. PTC_E_FORMAT: too short, or a number is
 * impossible. Of numbers that are returned: each *_bit is one bit or 0, mtc_freq_bits are at most 4
 * bits side by side, max_nonturbo_ratio is at most 255.
 */
PTC_API int ptc_pt_info_parse(const struct ptc_rec *rec, struct ptc_pt_info *ret,
			      struct ptc_err *err);

/* PERF_RECORD_TIME_CONV (79). Parse accepts the short form without cap words. */
PTC_API int ptc_time_conv_parse(const struct ptc_rec *rec, struct ptc_time_conv *ret,
				struct ptc_err *err);

/* The MTC period exponent (IA32_RTIT_CTL.MTCFreq) from attr.config, and others: masks shifted down.
 */
PTC_API uint64_t ptc_config_field(uint64_t config, uint64_t mask);

#ifdef __cplusplus
}
#endif
#endif
