/* SPDX-License-Identifier: MIT */
/*
 * The features of a header, typed: what a section that ptc_file_feature gives
 * holds. Layouts: tools/perf/util/header.c,
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PTCAP_FEATURE_H
#define PTCAP_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/cursor.h"
#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PTC_FEATURE_BITS = 256 };

/* Their bits: tools/perf/util/header.h. */
enum ptc_feature {
	PTC_FEAT_TRACING_DATA = 1,
	PTC_FEAT_BUILD_ID = 2,
	PTC_FEAT_HOSTNAME = 3,
	PTC_FEAT_OSRELEASE = 4,
	PTC_FEAT_VERSION = 5,
	PTC_FEAT_ARCH = 6,
	PTC_FEAT_NRCPUS = 7,
	PTC_FEAT_CPUDESC = 8,
	PTC_FEAT_CPUID = 9,
	PTC_FEAT_TOTAL_MEM = 10,
	PTC_FEAT_CMDLINE = 11,
	PTC_FEAT_EVENT_DESC = 12,
	PTC_FEAT_CPU_TOPOLOGY = 13,
	PTC_FEAT_NUMA_TOPOLOGY = 14,
	PTC_FEAT_BRANCH_STACK = 15,
	PTC_FEAT_PMU_MAPPINGS = 16,
	PTC_FEAT_GROUP_DESC = 17,
	PTC_FEAT_AUXTRACE = 18,
	PTC_FEAT_STAT = 19,
	PTC_FEAT_CACHE = 20,
	PTC_FEAT_SAMPLE_TIME = 21,
	PTC_FEAT_MEM_TOPOLOGY = 22,
	PTC_FEAT_CLOCKID = 23,
	PTC_FEAT_DIR_FORMAT = 24,
	PTC_FEAT_BPF_PROG_INFO = 25,
	PTC_FEAT_BPF_BTF = 26,
	PTC_FEAT_COMPRESSED = 27,
	PTC_FEAT_CPU_PMU_CAPS = 28,
	PTC_FEAT_CLOCK_DATA = 29,
	PTC_FEAT_HYBRID_TOPOLOGY = 30,
	PTC_FEAT_PMU_CAPS = 31,
	PTC_FEAT_CPU_DOMAIN_INFO = 32,
};

/*
 * What the sections of the header's features are made of. Strings are u32
 * length (padded) and bytes; lists are a count and entries. Nothing is copied
 * or allocated: what a parser gives points into the section, whose bytes must
 * outlive it, and a count is only a promise of entries that are read one by one.
 */

/*
 * A string: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID, and in lists.
 * Take one from the front of @c. False, moving nothing, if it is not there whole, with its NUL.
 */
PTC_API bool ptc_feature_get_string(struct ptc_cur *c, const char **ret);

/* The entries of a list. */
struct ptc_feature_iter {
	struct ptc_cur cur; /* the entries to come; what else the section has is behind them */
	uint64_t left;	    /* how many, as the section claims */
	uint64_t off;	    /* of the section in the file, for messages */
	enum ptc_feature bit;
};

/*
 * Open the section of a feature that is a count and entries: CMDLINE,
 * NUMA_TOPOLOGY, PMU_MAPPINGS, GROUP_DESC, AUXTRACE, BPF_PROG_INFO, BPF_BTF,
 * CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS. PTC_E_FORMAT: no count.
 *
 * The functions ptc_feature_next_... take an entry: they return 1 with *@ret
 * set, 0 at the end, or PTC_E_FORMAT where the section ends inside an entry
 * (then nothing can follow).
 */
PTC_API int ptc_feature_open(enum ptc_feature bit, struct ptc_cur section, uint64_t off,
			     struct ptc_feature_iter *ret, struct ptc_err *err);

/* The error of a ptc_feature_get_... that gave false: "feature NAME is too short". PTC_E_FORMAT. */
PTC_API int ptc_feature_broken(enum ptc_feature bit, uint64_t off, struct ptc_err *err);

/* Entries that are a string: CMDLINE, and the lists of CPU_TOPOLOGY. */
PTC_API int ptc_feature_next_string(struct ptc_feature_iter *it, const char **ret,
				    struct ptc_err *err);

/* --- the machine: CPUs, nodes, caches, memory --- */

/* NRCPUS */
struct ptc_nrcpus {
	uint32_t available, online;
};
/* False, moving nothing, if @c is too short; so the other ..._get_... functions. */
PTC_API bool ptc_feature_get_nrcpus(struct ptc_cur *c, struct ptc_nrcpus *ret);

/* TOTAL_MEM: KiB */
PTC_API bool ptc_feature_get_total_mem(struct ptc_cur *c, uint64_t *ret_kib);

/*
 * CPU_TOPOLOGY. It grew twice: an old one ends behind the threads, a newer one
 * behind the ids. CPUs are told as lists ("0-3,8").
 */
struct ptc_cpu_topology {
	struct ptc_feature_iter packages; /* strings: the CPUs of each socket (or die) */
	struct ptc_feature_iter threads;  /* strings: the CPUs of each core */
	bool has_ids;
	struct ptc_cur ids; /* for each CPU: u32 core, u32 socket (-1: not known) */
	bool has_dies;
	struct ptc_feature_iter dies; /* strings: the CPUs of each die */
	struct ptc_cur die_ids;	      /* u32 for each CPU */
	struct ptc_cur rest;	      /* what a newer writer put behind */
};
/* @ncpus: how many CPUs have ids: those NRCPUS says are available. 0 or PTC_E_FORMAT. */
PTC_API int ptc_feature_parse_cpu_topology(struct ptc_cur section, uint64_t off, uint32_t ncpus,
					   struct ptc_cpu_topology *ret, struct ptc_err *err);

/* NUMA_TOPOLOGY */
struct ptc_numa_node {
	uint32_t node;
	uint64_t total_kib, free_kib;
	const char *cpus; /* a list; lent */
};
PTC_API int ptc_feature_next_numa(struct ptc_feature_iter *it, struct ptc_numa_node *ret,
				  struct ptc_err *err);

/* CACHE. Lent strings, as sysfs has them: "Data", "32K", "0-1". */
struct ptc_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus;
};
/* PTC_E_UNSUPPORTED: a version other than 1, the only one there is. */
PTC_API int ptc_feature_open_cache(struct ptc_cur section, uint64_t off,
				   struct ptc_feature_iter *ret, struct ptc_err *err);
PTC_API int ptc_feature_next_cache(struct ptc_feature_iter *it, struct ptc_cache *ret,
				   struct ptc_err *err);

/* MEM_TOPOLOGY: which blocks of memory are on which node. */
struct ptc_mem_node {
	uint64_t node;
	uint64_t size;	    /* bits */
	struct ptc_cur set; /* u64 words of bits, one a block: memoryN of sysfs */
};
/* PTC_E_UNSUPPORTED: a version other than 1, the only one there is. */
PTC_API int ptc_feature_open_mem_topology(struct ptc_cur section, uint64_t off,
					  struct ptc_feature_iter *ret, uint64_t *ret_block_bytes,
					  struct ptc_err *err);
PTC_API int ptc_feature_next_mem_node(struct ptc_feature_iter *it, struct ptc_mem_node *ret,
				      struct ptc_err *err);

/* HYBRID_TOPOLOGY */
struct ptc_hybrid_node {
	const char *pmu, *cpus; /* lent */
};
PTC_API int ptc_feature_next_hybrid(struct ptc_feature_iter *it, struct ptc_hybrid_node *ret,
				    struct ptc_err *err);

/* CPU_DOMAIN_INFO: the scheduler's domains, of /proc/schedstat (perf of Linux 7.0). */
struct ptc_domain {
	uint32_t domain;
	const char *name; /* NULL: schedstat before version 17 */
	const char *mask; /* hex, lent */
	const char *cpus; /* list, lent */
};
struct ptc_cpu_domains {
	uint32_t cpu;
	struct ptc_feature_iter domains;
};
struct ptc_domain_info {
	uint32_t schedstat_version;
	uint32_t max_domains;
	struct ptc_feature_iter cpus; /* to the section's end: nothing says how many */
};
PTC_API int ptc_feature_parse_domain_info(struct ptc_cur section, uint64_t off,
					  struct ptc_domain_info *ret, struct ptc_err *err);
PTC_API int ptc_feature_next_cpu_domains(const struct ptc_domain_info *info,
					 struct ptc_feature_iter *it, struct ptc_cpu_domains *ret,
					 struct ptc_err *err);
PTC_API int ptc_feature_next_domain(const struct ptc_domain_info *info, struct ptc_feature_iter *it,
				    struct ptc_domain *ret, struct ptc_err *err);

/* --- the events and the PMUs --- */

/* EVENT_DESC: an iterator over a section, whose bytes must outlive it. */
struct ptc_event_desc_iter {
	struct ptc_cur cur;
	uint64_t off; /* of the section, for messages */
	uint32_t left, attr_size;
};
struct ptc_event_desc_entry {
	__extension__ union { /* C99 has no unions without a name */
		struct perf_event_attr attr;
		uint8_t attr_room[PTC_ATTR_ROOM];
	};
	const char *name;   /* lent */
	struct ptc_cur ids; /* lent; u64 each */
};
PTC_API int ptc_feature_open_event_desc(struct ptc_cur section, uint64_t off,
					struct ptc_event_desc_iter *ret, struct ptc_err *err);
/* Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_event_desc(struct ptc_event_desc_iter *it,
					struct ptc_event_desc_entry *ret, struct ptc_err *err);

/* GROUP_DESC: events that are counted together. */
struct ptc_group_desc {
	const char *name; /* lent; "{anon_group}": none */
	uint32_t leader;  /* which event it is, from 0 */
	uint32_t members; /* it and those that follow */
};
PTC_API int ptc_feature_next_group(struct ptc_feature_iter *it, struct ptc_group_desc *ret,
				   struct ptc_err *err);

/* PMU_MAPPINGS: what the numbers in attr.type are called. */
struct ptc_pmu_mapping {
	uint32_t type;
	const char *name; /* lent */
};
PTC_API int ptc_feature_next_pmu_mapping(struct ptc_feature_iter *it, struct ptc_pmu_mapping *ret,
					 struct ptc_err *err);

/* CPU_PMU_CAPS: of the PMU "cpu". Also the lists inside PMU_CAPS. */
struct ptc_pmu_cap {
	const char *name, *value; /* lent */
};
PTC_API int ptc_feature_next_pmu_cap(struct ptc_feature_iter *it, struct ptc_pmu_cap *ret,
				     struct ptc_err *err);

/* PMU_CAPS: of the other PMUs. */
struct ptc_pmu_caps {
	const char *pmu; /* lent */
	struct ptc_feature_iter caps;
};
PTC_API int ptc_feature_next_pmu_caps(struct ptc_feature_iter *it, struct ptc_pmu_caps *ret,
				      struct ptc_err *err);

/* --- the recording itself, and what is in it --- */

/* One entry of BUILD_ID: a record inside the section. */
struct ptc_build_id_entry {
	uint16_t misc; /* PERF_RECORD_MISC_USER or _KERNEL */
	int32_t pid;   /* -1: host */
	struct ptc_build_id id;
	const char *filename; /* lent */
};
/* Returns 1, 0 at the end, or PTC_E_FORMAT. @off is that of the section, for messages. */
PTC_API int ptc_feature_next_build_id(struct ptc_cur *c, uint64_t off,
				      struct ptc_build_id_entry *ret, struct ptc_err *err);

/* AUXTRACE: where the AUXTRACE records are. */
struct ptc_auxtrace_entry {
	uint64_t off;  /* of the record in the file */
	uint64_t size; /* of the record, without the trace behind it */
};
PTC_API int ptc_feature_next_auxtrace(struct ptc_feature_iter *it, struct ptc_auxtrace_entry *ret,
				      struct ptc_err *err);

/* SAMPLE_TIME: of the first and the last sample. */
struct ptc_sample_time {
	uint64_t first_ns, last_ns;
};
PTC_API bool ptc_feature_get_sample_time(struct ptc_cur *c, struct ptc_sample_time *ret);

/* CLOCKID: the resolution of the clock that the times are of. */
PTC_API bool ptc_feature_get_clockid(struct ptc_cur *c, uint64_t *ret_res_ns);

/* DIR_FORMAT: the version of the folder that the recording is. */
PTC_API bool ptc_feature_get_dir_format(struct ptc_cur *c, uint64_t *ret_version);

/* COMPRESSED: some records are in COMPRESSED records. */
enum { PTC_COMPRESSED_VERSION = 1, PTC_COMPRESSED_ZSTD = 1 };
struct ptc_compressed {
	uint32_t version; /* PTC_COMPRESSED_VERSION */
	uint32_t type;	  /* PTC_COMPRESSED_ZSTD */
	uint32_t level;
	uint32_t ratio;	   /* bytes before to bytes behind, rounded */
	uint32_t mmap_len; /* as many bytes come out of one COMPRESSED record, at most */
};
PTC_API bool ptc_feature_get_compressed(struct ptc_cur *c, struct ptc_compressed *ret);

/* CLOCK_DATA: one moment, by the clock on the wall and by that of the records. */
struct ptc_clock_data {
	uint32_t version; /* 1 */
	uint32_t clockid; /* CLOCK_MONOTONIC, ... */
	uint64_t wall_ns; /* since 1970 */
	uint64_t clock_ns;
};
PTC_API bool ptc_feature_get_clock_data(struct ptc_cur *c, struct ptc_clock_data *ret);

/* --- what the kernel said: formats of tracepoints, BPF programs and their types --- */

/* Bytes behind a u64 size: a file of tracefs. */
PTC_API int ptc_feature_next_blob(struct ptc_feature_iter *it, struct ptc_cur *ret,
				  struct ptc_err *err);

/* One folder of events in TRACING_DATA. */
struct ptc_trace_system {
	const char *name;		 /* lent */
	struct ptc_feature_iter formats; /* blobs: texts, one an event */
};

/* TRACING_DATA: files of tracefs (tools/perf/util/trace-event-info.c). */
struct ptc_tracing_data {
	const char *version; /* "0.6"; lent */
	uint8_t long_size;
	uint32_t page_size;
	struct ptc_cur header_page, header_event; /* texts, without a NUL */
	struct ptc_feature_iter ftrace;		  /* blobs: formats of ftrace's own events */
	struct ptc_feature_iter systems;
	struct ptc_cur kallsyms, printk, cmdlines;
	struct ptc_cur rest; /* what a newer writer put behind */
};
/* PTC_E_UNSUPPORTED: of a big-endian machine. */
PTC_API int ptc_feature_parse_tracing_data(struct ptc_cur section, uint64_t off,
					   struct ptc_tracing_data *ret, struct ptc_err *err);
PTC_API int ptc_feature_next_trace_system(struct ptc_feature_iter *it, struct ptc_trace_system *ret,
					  struct ptc_err *err);

/* BPF_PROG_INFO */
struct ptc_bpf_prog {
	uint64_t arrays;     /* which arrays the data has: bits of enum perf_bpil_array_types */
	struct ptc_cur info; /* struct bpf_prog_info, of the writer's size; lent */
	struct ptc_cur data; /* the arrays, to which info has offsets; lent */
	/* of info; 0 where it is shorter */
	uint32_t type, id;
	uint8_t tag[8];
	uint32_t jited_len, xlated_len;
	uint64_t load_time_ns; /* since boot */
	uint32_t uid;
	char name[17];
};
PTC_API int ptc_feature_next_bpf_prog(struct ptc_feature_iter *it, struct ptc_bpf_prog *ret,
				      struct ptc_err *err);

/* BPF_BTF */
struct ptc_bpf_btf {
	uint32_t id;
	struct ptc_cur data; /* lent */
};
PTC_API int ptc_feature_next_bpf_btf(struct ptc_feature_iter *it, struct ptc_bpf_btf *ret,
				     struct ptc_err *err);

/* "HOSTNAME", ...; NULL for a bit we do not know. */
PTC_API const char *ptc_feature_name(unsigned int bit);

/*
 * Read a whole section, every entry of it. @off: of the section in the file,
 * for messages; @ncpus: available ones, of NRCPUS (CPU_TOPOLOGY needs it).
 * *@ret_rest is what is left behind all that is known of the feature; of a
 * feature we do not know, everything. Returns 0, PTC_E_FORMAT or
 * PTC_E_UNSUPPORTED.
 */
PTC_API int ptc_feature_check(enum ptc_feature bit, struct ptc_cur section, uint64_t off,
			      uint32_t ncpus, struct ptc_cur *ret_rest, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
