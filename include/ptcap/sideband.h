/* SPDX-License-Identifier: MIT */
/*
 * The kernel's sideband records, decoded: processes, threads, mappings, and events of the trace
 * itself. Layouts: include/uapi/linux/perf_event.h, enum perf_event_type.
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
	/*
	 * PROT_*, MAP_*. MMAP has neither: prot is then READ|EXEC, or READ if misc has
	 * PERF_RECORD_MISC_MMAP_DATA
	 */
	uint32_t prot, flags;
	/* Valid if misc has PERF_RECORD_MISC_MMAP_BUILD_ID; len 0: none. */
	struct ptc_build_id build_id;
	const char *filename; /* borrowed */
};

/* COMM: a new name of a thread. */
struct ptc_sb_comm {
	int32_t pid, tid;
	const char *comm; /* borrowed; an exec if misc has PERF_RECORD_MISC_COMM_EXEC */
};

struct ptc_sb_task { /* FORK and EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};

/* AUX: bytes were added to the AUX area. */
struct ptc_sb_aux {
	uint64_t offset, size, flags; /* PERF_AUX_FLAG_* */
};

/* ITRACE_START: tracing of a thread started. */
struct ptc_sb_itrace_start {
	int32_t pid, tid;
};

struct ptc_sb_switch { /* SWITCH (next_prev_* are -1) and SWITCH_CPU_WIDE */
	int32_t next_prev_pid, next_prev_tid;
}; /* switched out if misc has PERF_RECORD_MISC_SWITCH_OUT, else in */

struct ptc_sb_poke { /* TEXT_POKE: code was changed, and differs from the mapped file */
	uint64_t addr;
	struct ptc_cur old_bytes, new_bytes; /* borrowed; either may be empty */
};

struct ptc_sb_lost { /* LOST; LOST_SAMPLES has no id */
	uint64_t id, lost;
};

struct ptc_sb_throttle { /* THROTTLE and UNTHROTTLE */
	uint64_t time, id, stream_id;
};

/* READ: counter values. */
struct ptc_sb_read {
	int32_t pid, tid;
	/* Borrowed; ptc_read_parse decodes them with the attr's read_format. */
	struct ptc_cur values;
};

/* NAMESPACES of a thread. */
struct ptc_sb_namespaces {
	int32_t pid, tid;
	/* Borrowed; ptc_sb_next_namespace takes links in the order of *_NS_INDEX. */
	struct ptc_cur links;
};

/* A namespace, identified by device and inode. */
struct ptc_ns_link {
	uint64_t dev, ino;
};

/* KSYMBOL: a kernel symbol was added or removed. */
struct ptc_sb_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags;	    /* PERF_RECORD_KSYMBOL_FLAGS_* */
	const char *name;   /* borrowed */
};

/* BPF_EVENT: a BPF program was loaded or unloaded. */
struct ptc_sb_bpf {
	uint16_t type, flags; /* PERF_BPF_EVENT_* */
	uint32_t id;
	uint8_t tag[8];
};

/* CGROUP: id and path of a cgroup. */
struct ptc_sb_cgroup {
	uint64_t id;
	const char *path; /* borrowed */
};

struct ptc_sb_hw_id { /* AUX_OUTPUT_HW_ID */
	uint64_t hw_id;
};

struct ptc_sb_callchain { /* CALLCHAIN_DEFERRED */
	/* Equals the value after PERF_CONTEXT_USER_DEFERRED in earlier samples. */
	uint64_t cookie;
	struct ptc_cur ips; /* borrowed; u64 each */
};

/* One sideband record. type selects the member of u. */
struct ptc_sb {
	uint64_t off;  /* file offset */
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	struct ptc_sample_id id; /* has == 0: the record has no trailer */
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
 * Decode a kernel record from MMAP to CALLCHAIN_DEFERRED, but not SAMPLE (sample.h). @sample_type:
 * that of the record's attr if its sample_id_all is set, otherwise 0. Returns 1, or PTC_E_FORMAT.
 * Returns 0 for any other type: then only ret->type, off and misc are set. Strings and bytes are
 * borrowed from the record.
 */
PTC_API int ptc_sb_parse(const struct ptc_rec *rec, uint64_t sample_type, struct ptc_sb *ret,
			 struct ptc_err *err);

/* Take the next link of NAMESPACES. Returns false at the end. */
PTC_API bool ptc_sb_next_namespace(struct ptc_cur *links, struct ptc_ns_link *ret);

#ifdef __cplusplus
}
#endif
#endif
