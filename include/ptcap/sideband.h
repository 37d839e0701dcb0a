/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side records, typed: what process ran where, what it had
 * mapped, what happened to the trace. Layouts: include/uapi/linux/perf_event.h,
 * enum perf_event_type.
 */
#ifndef PTCAP_SIDEBAND_H
#define PTCAP_SIDEBAND_H

#include "ptcap/record.h"
#include "ptcap/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_sb_mmap { /* MMAP and MMAP2 */
	int32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min; /* MMAP2 */
	uint64_t ino, ino_generation;
	uint32_t prot, flags; /* PROT_*, MAP_*; MMAP has neither: prot is then READ|EXEC, or READ if
			       * misc has PERF_RECORD_MISC_MMAP_DATA */
	struct ptc_build_id build_id; /* len 0: none. With PERF_RECORD_MISC_MMAP_BUILD_ID in misc */
	const char *filename;	      /* lent */
};

struct ptc_sb_comm {
	int32_t pid, tid;
	const char *comm; /* lent; exec if misc has PERF_RECORD_MISC_COMM_EXEC */
};

struct ptc_sb_task { /* FORK and EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct ptc_sb_aux {
	uint64_t offset, size, flags; /* PERF_AUX_FLAG_* */
};

struct ptc_sb_itrace_start {
	int32_t pid, tid;
};

struct ptc_sb_switch { /* SWITCH (next_prev_* are -1) and SWITCH_CPU_WIDE */
	int32_t next_prev_pid, next_prev_tid;
}; /* out if misc has PERF_RECORD_MISC_SWITCH_OUT */

struct ptc_sb_poke { /* TEXT_POKE: code that is not what the mapped file says, from now on */
	uint64_t addr;
	struct ptc_cur old_bytes, new_bytes; /* lent; either may be empty */
};

struct ptc_sb_lost { /* LOST; LOST_SAMPLES has no id */
	uint64_t id, lost;
};

struct ptc_sb_throttle { /* THROTTLE and UNTHROTTLE */
	uint64_t time, id, stream_id;
};

struct ptc_sb_read {
	int32_t pid, tid;
	struct ptc_cur values; /* lent; ptc_read_parse with the attr's read_format types them */
};

struct ptc_sb_namespaces {
	int32_t pid, tid;
	struct ptc_cur links; /* lent; ptc_sb_next_namespace: in the order of *_NS_INDEX */
};

struct ptc_ns_link {
	uint64_t dev, ino;
};

struct ptc_sb_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags;	    /* PERF_RECORD_KSYMBOL_FLAGS_* */
	const char *name;   /* lent */
};

struct ptc_sb_bpf {
	uint16_t type, flags; /* PERF_BPF_EVENT_* */
	uint32_t id;
	uint8_t tag[8];
};

struct ptc_sb_cgroup {
	uint64_t id;
	const char *path; /* lent */
};

struct ptc_sb_hw_id { /* AUX_OUTPUT_HW_ID */
	uint64_t hw_id;
};

struct ptc_sb_callchain {   /* CALLCHAIN_DEFERRED */
	uint64_t cookie;    /* as the one behind PERF_CONTEXT_USER_DEFERRED in the samples before */
	struct ptc_cur ips; /* lent; u64 each */
};

struct ptc_sb {
	uint64_t off;  /* in the file */
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	struct ptc_sample_id id; /* has == 0 when there is no trailer */
	__extension__ union {	 /* C99 has no unions without a name */
		struct ptc_sb_mmap mmap;
		struct ptc_sb_comm comm;
		struct ptc_sb_task task;
		struct ptc_sb_aux aux;
		struct ptc_sb_itrace_start itrace_start;
		struct ptc_sb_switch sw;
		struct ptc_sb_lost lost;
		struct ptc_sb_poke poke;
		struct ptc_sb_throttle throttle;
		struct ptc_sb_read read;
		struct ptc_sb_namespaces namespaces;
		struct ptc_sb_ksymbol ksymbol;
		struct ptc_sb_bpf bpf;
		struct ptc_sb_cgroup cgroup;
		struct ptc_sb_hw_id hw_id;
		struct ptc_sb_callchain callchain;
	} u;
};

/*
 * Type a record of the kernel's, except SAMPLE (sample.h): MMAP to
 * CALLCHAIN_DEFERRED. @sample_type is that of the attr it
 * belongs to, if sample_id_all is set there, else 0. Returns 1; 0 for another
 * type (ret->type, off, misc are set, nothing else); or PTC_E_FORMAT.
 * Strings and bytes are lent from the record.
 */
PTC_API int ptc_sb_parse(const struct ptc_rec *rec, uint64_t sample_type, struct ptc_sb *ret,
			 struct ptc_err *err);

/* Take the next link of NAMESPACES. False: no more. */
PTC_API bool ptc_sb_next_namespace(struct ptc_cur *links, struct ptc_ns_link *ret);

#ifdef __cplusplus
}
#endif
#endif
