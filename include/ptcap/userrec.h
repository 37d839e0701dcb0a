/* SPDX-License-Identifier: MIT */
/*
 * The records that perf itself makes, decoded: PERF_RECORD_USER_TYPE_START and up. Layouts:
 * tools/lib/perf/include/perf/event.h. The words of AUXTRACE_INFO are decoded by ptc_pt_info_parse.
 */
#ifndef PTCAP_USERREC_H
#define PTCAP_USERREC_H

#include <linux/perf_event.h>

#include "ptcap/feature.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* AUXTRACE: a chunk of trace. Layout: tools/lib/perf/include/perf/event.h. */

enum { PTC_AUXTRACE_SIZE = 48 }; /* the record itself, without its payload */

/* Fields of an AUXTRACE record. */
struct ptc_auxtrace {
	uint64_t size;	 /* payload bytes after the record; perf writes a multiple of 8 */
	uint64_t offset; /* offset of the payload in the AUX stream */
	/* TSC when the chunk was copied: extends TSC packets (7 bytes) with their top byte */
	uint64_t reference;
	uint32_t idx;	  /* queue number */
	int32_t tid, cpu; /* -1: none */
};

/*
 * Sets of CPUs as perf writes them in CPU_MAP and EVENT_UPDATE records: struct
 * perf_record_cpu_map_data of tools/lib/perf/include/perf/event.h.
 */

enum { /* perf_record_cpu_map_data.type */
       PTC_CPU_MAP_CPUS = 0,
       PTC_CPU_MAP_MASK = 1,
       PTC_CPU_MAP_RANGE = 2,
};

/* A set of CPUs. type says which fields are used. */
struct ptc_cpu_map {
	uint16_t type;	      /* PTC_CPU_MAP_*: encoding of the set */
	struct ptc_cur cpus;  /* CPUS: borrowed; u16 each, 0xffff is -1 */
	uint16_t word_size;   /* MASK: 4 or 8 bytes */
	struct ptc_cur mask;  /* MASK: borrowed; words of word_size, lowest CPU first */
	bool any;	      /* RANGE: the set also contains -1 */
	uint16_t first, last; /* RANGE: both included */
	uint32_t at;	      /* position of ptc_cpu_map_next; 0 at the start */
};

/*
 * Take a CPU map from the front of @c. Returns false, without moving @c: too few bytes, a word size
 * other than 4 and 8, a range that ends before its start, or an unknown type.
 */
PTC_API bool ptc_cpu_map_parse(struct ptc_cur *c, struct ptc_cpu_map *ret);

/*
 * Get the next CPU; -1: any CPU. Ascending for MASK and RANGE, stored order for CPUS. Returns false
 * at the end.
 */
PTC_API bool ptc_cpu_map_next(struct ptc_cpu_map *m, int32_t *ret);

/*
 * SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN: lines of /proc/schedstat as counters. Layout and names:
 * tools/lib/perf/include/perf/schedstat-v15.h to -v17.h.
 */

/* Fields of either record. */
struct ptc_schedstat {
	uint64_t time; /* jiffies */
	uint32_t cpu;
	uint16_t version;	 /* version of /proc/schedstat; counters have names for 15 to 17 */
	uint16_t domain;	 /* SCHEDSTAT_DOMAIN: its number; otherwise 0 */
	bool of_domain;		 /* SCHEDSTAT_DOMAIN */
	struct ptc_cur counters; /* borrowed; for ptc_schedstat_next */
	unsigned int at;	 /* position of ptc_schedstat_next; 0 at the start */
};

/*
 * Parse the body of either record (@of_domain: SCHEDSTAT_DOMAIN). Returns false if the body is too
 * short for the fields, or for the counters of its version. Counters of an unknown version are
 * borrowed without names.
 */
PTC_API bool ptc_schedstat_parse(struct ptc_cur body, bool of_domain, struct ptc_schedstat *ret);

/*
 * Returns the name (static) of the next counter, and its value. NULL: no more, or an unknown
 * version.
 */
PTC_API const char *ptc_schedstat_next(struct ptc_schedstat *s, uint64_t *ret);

enum {
	/* Sizes of fixed fields, in bytes; names of perf's own constants. */
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

struct ptc_user_attr {	      /* HEADER_ATTR: an event, in pipe mode */
	__extension__ union { /* C99 has no unions without a name */
		struct perf_event_attr attr;
		uint8_t attr_room[PTC_ATTR_ROOM];
	};
	bool unknown_bytes; /* the file's attr has non-zero bytes after the known fields */
	struct ptc_cur ids; /* borrowed; u64 each */
};

struct ptc_user_event_type { /* HEADER_EVENT_TYPE; perf stopped writing it in 2012 */
	uint64_t event_id;
	const char *name;			/* borrowed, or in room of the same structure */
	char room[PTC_EVENT_TYPE_NAME_MAX + 1]; /* copy of a name without NUL in the record */
	/*
	 * Bytes after the name, if event_id is PTC_LEDGER_ID, PTC_CRASH_ID, PTC_FILECODE_ID or
	 * PTC_CUTOUT_ID. Borrowed. Their parsers are in ledger.h, crash.h, filecode.h and cutout.h.
	 */
	struct ptc_cur more;
};

struct ptc_user_tracing_data { /* its text follows the record: ptc_rec_trailing */
	uint32_t size;
};

/* ID_INDEX: the ring of each event id. */
struct ptc_user_id_index {
	uint64_t n;
	struct ptc_cur entries; /* borrowed; for ptc_id_index_next */
	struct ptc_cur guests;	/* as many entries for guests; empty in a record without guests */
};

struct ptc_id_index_entry {
	uint64_t id;
	uint64_t idx;	     /* index of the ring */
	int64_t cpu, tid;    /* -1: any */
	int64_t machine_pid; /* guest: pid of the process that runs the guest; otherwise 0 */
	int64_t vcpu;	     /* -1: none; 0 without guests */
};

/* AUXTRACE_INFO: the kind of trace, and its parameters. */
struct ptc_user_auxtrace_info {
	uint32_t type;	      /* PTC_AUXTRACE_TYPE_* */
	struct ptc_cur words; /* borrowed; u64 each; meaning depends on type */
};

/* AUXTRACE_ERROR: a decoding error that perf inject stored. */
struct ptc_user_auxtrace_error {
	uint32_t type, code; /* type 1: instruction trace */
	int32_t cpu, pid, tid;
	uint32_t fmt; /* 0: no time; 1: time; 2: also machine_pid and vcpu */
	uint64_t ip, time;
	const char *msg; /* borrowed */
	int32_t machine_pid, vcpu;
};

/* THREAD_MAP: the threads of perf stat. */
struct ptc_user_thread_map {
	uint64_t n;
	struct ptc_cur entries; /* borrowed; for ptc_thread_map_next */
};

struct ptc_thread_map_entry {
	int64_t tid;
	char comm[PTC_THREAD_COMM_MAX + 1];
};

/* STAT_CONFIG: settings of perf stat. */
struct ptc_user_stat_config {
	uint64_t n;
	struct ptc_cur entries; /* borrowed; for ptc_stat_config_next */
};

struct ptc_stat_config_entry {
	uint64_t tag, val; /* tag: PTC_STAT_* */
};

/* STAT: one counter value of perf stat. */
struct ptc_user_stat {
	uint64_t id;
	int32_t cpu, thread;	/* thread: index into the THREAD_MAP */
	uint64_t val, ena, run; /* val: count; ena, run: ns */
};

/* STAT_ROUND: end of an interval of perf stat. */
struct ptc_user_stat_round {
	uint64_t type; /* 0: interval, 1: final */
	uint64_t time; /* ns */
};

/* EVENT_UPDATE: a property of an event. */
struct ptc_user_event_update {
	uint64_t type; /* PTC_UPDATE_* */
	uint64_t id;
	const char *text;	 /* UNIT, NAME: borrowed */
	double scale;		 /* SCALE */
	struct ptc_cpu_map cpus; /* CPUS */
	struct ptc_cur other;	 /* any other type: borrowed bytes */
};

/* TIME_CONV: parameters for TSC conversion, all fields of the record. */
struct ptc_user_time_conv {
	uint64_t shift, mult, zero;
	bool is_long; /* the fields below are valid; older versions of perf end here */
	uint64_t cycles, mask;
	bool cap_user_time_zero, cap_user_time_short;
};

struct ptc_user_feature {    /* HEADER_FEATURE: a header feature, in pipe mode */
	uint64_t id;	     /* PTC_FEAT_* */
	struct ptc_cur data; /* borrowed; for feature.h. Empty: marks the last feature */
};

struct ptc_user_compressed { /* COMPRESSED and COMPRESSED2 */
	struct ptc_cur data; /* borrowed; a part of one zstd stream, without padding */
};

/* BPF_METADATA: keys and values of a BPF program. */
struct ptc_user_bpf_metadata {
	const char *prog_name; /* borrowed */
	uint64_t n;
	struct ptc_cur entries; /* borrowed; for ptc_bpf_metadata_next */
};

struct ptc_bpf_metadata_entry {
	const char *key, *value; /* borrowed */
};

/* One record of perf's own. type selects the member of u. */
struct ptc_user {
	uint64_t off;  /* file offset */
	uint32_t type; /* PTC_REC_* */
	uint16_t misc;
	union { /* FINISHED_ROUND and FINISHED_INIT have no fields */
		struct ptc_user_attr attr;
		struct ptc_user_event_type event_type;
		struct ptc_user_tracing_data tracing_data;
		struct ptc_build_id_entry build_id; /* misc is that of the record */
		struct ptc_user_id_index id_index;
		struct ptc_user_auxtrace_info auxtrace_info;
		struct ptc_auxtrace auxtrace; /* its trace follows the record: ptc_rec_trailing */
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
 * Decode a record of perf's, from HEADER_ATTR to SCHEDSTAT_DOMAIN. Returns 1, or PTC_E_FORMAT.
 * Returns 0 for any other type: then only ret->type, off and misc are set. Strings and bytes are
 * borrowed from the record. Counts were checked against the record's size.
 */
PTC_API int ptc_user_parse(const struct ptc_rec *rec, struct ptc_user *ret, struct ptc_err *err);

/* Take the next entry. Return false at the end. */
PTC_API bool ptc_id_index_next(struct ptc_user_id_index *x, struct ptc_id_index_entry *ret);
PTC_API bool ptc_thread_map_next(struct ptc_user_thread_map *m, struct ptc_thread_map_entry *ret);
PTC_API bool ptc_stat_config_next(struct ptc_user_stat_config *s,
				  struct ptc_stat_config_entry *ret);
PTC_API bool ptc_bpf_metadata_next(struct ptc_user_bpf_metadata *m,
				   struct ptc_bpf_metadata_entry *ret);

/*
 * AUXTRACE_INFO for Intel PT, and TIME_CONV. Words of AUXTRACE_INFO: the enum in
 * tools/perf/util/intel-pt.h (doc/format.md lists the words).
 */

enum { PTC_AUXTRACE_TYPE_INTEL_PT = 1, PTC_AUXTRACE_TYPE_INTEL_BTS = 2 };

/* perf time = zero + TSC * mult >> shift (perf_event_mmap_page, cap_user_time_zero). */
struct ptc_time_conv {
	uint16_t shift;
	uint32_t mult; /* 0: the TSC cannot be converted */
	uint64_t zero;
};

/*
 * Convert between TSC and ns of the perf clock, modulo 2^64. With mult 0 the results are tc->zero
 * (ns) and 0 (TSC).
 */
PTC_API uint64_t ptc_tsc_to_ns(const struct ptc_time_conv *tc, uint64_t tsc);
PTC_API uint64_t ptc_ns_to_tsc(const struct ptc_time_conv *tc, uint64_t ns);

/* Decoded AUXTRACE_INFO of Intel PT. */
struct ptc_pt_info {
	uint32_t type;	   /* PTC_AUXTRACE_TYPE_*; the fields below are read for INTEL_PT only */
	uint32_t pmu_type; /* equals attr.type of the PT event */
	struct ptc_time_conv time;
	bool cap_user_time_zero;	 /* time is valid */
	uint64_t tsc_bit, noretcomp_bit; /* masks in attr.config */
	uint64_t have_sched_switch;	 /* 0: none; 1: tracepoint; 2: SWITCH; 3: SWITCH_CPU_WIDE */
	bool snapshot_mode;
	bool per_cpu_mmaps;
	uint64_t mtc_bit, mtc_freq_bits; /* masks in attr.config; 0 if not recorded */
	/* TSC ticks per CTC tick = n / d (CPUID 15h EBX / EAX); 0: unknown */
	uint32_t tsc_ctc_n, tsc_ctc_d;
	uint64_t cyc_bit;
	uint32_t max_nonturbo_ratio;
	const char *filter;   /* borrowed; "" if none */
	bool cap_event_trace; /* the CPU supports Event Trace (CFE and EVD packets) */
};

/*
 * Decode the record AUXTRACE_INFO. The filter is borrowed from the record. PTC_E_FORMAT: too short,
 * or an impossible number. Guarantees: each *_bit is one bit or 0, mtc_freq_bits is at most 4
 * adjacent bits, max_nonturbo_ratio is at most 255.
 */
PTC_API int ptc_pt_info_parse(const struct ptc_rec *rec, struct ptc_pt_info *ret,
			      struct ptc_err *err);

/* Decode PERF_RECORD_TIME_CONV (79). Also accepts the short form without the cap words. */
PTC_API int ptc_time_conv_parse(const struct ptc_rec *rec, struct ptc_time_conv *ret,
				struct ptc_err *err);

/*
 * Returns the bits of @config under @mask, shifted down. Example: the MTC period exponent
 * (IA32_RTIT_CTL.MTCFreq).
 */
PTC_API uint64_t ptc_config_field(uint64_t config, uint64_t mask);

#ifdef __cplusplus
}
#endif
#endif
