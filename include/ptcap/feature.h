/* SPDX-License-Identifier: MIT */
/*
 * Parsers for the header features: the contents of the sections that ptc_file_feature returns.
 * Layouts: tools/perf/util/header.c, tools/perf/Documentation/perf.data-file-format.txt.
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

enum {
	PTC_FILE_HEADER_SIZE = 104, /* bytes of a file's header; the last 32 are the feature bits */
	PTC_FEATURE_BITS = 256,
};

/* Feature bits of the header: tools/perf/util/header.h. */
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
 * Layout of the sections: a string is a u32 length (padded) and bytes. A list is a count and
 * entries. Parsers neither copy nor allocate. Results point into the section, whose bytes must
 * outlive them. A count is a claim of the file: entries are read and checked one by one.
 */

/*
 * Take a string from the front of @c: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID, and
 * strings in lists. Returns false, without moving @c, if the string or its NUL is cut off.
 */
PTC_API bool ptc_feature_get_string(struct ptc_cur *c, const char **ret);

/* Iterator over the entries of a list. */
struct ptc_feature_iter {
	struct ptc_cur cur; /* the entries to come, then the rest of the section */
	uint64_t left;	    /* entries left, as the section claims */
	uint64_t off;	    /* offset of the section in the file, for messages */
	enum ptc_feature bit;
};

/*
 * Open the section of a feature that is a count and entries: CMDLINE, NUMA_TOPOLOGY, PMU_MAPPINGS,
 * GROUP_DESC, AUXTRACE, BPF_PROG_INFO, BPF_BTF, CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS. @off:
 * offset of the section in the file, for messages. PTC_E_FORMAT: too short for a count.
 *
 * The functions ptc_feature_next_... take one entry. They return 1 with *@ret set, 0 at the end, or
 * PTC_E_FORMAT if the section ends inside an entry. After PTC_E_FORMAT no entry can follow.
 */
PTC_API int ptc_feature_open(enum ptc_feature bit, struct ptc_cur section, uint64_t off,
			     struct ptc_feature_iter *ret, struct ptc_err *err);

/*
 * Fill @err for a ptc_feature_get_... that returned false: "feature NAME is too short". Returns
 * PTC_E_FORMAT.
 */
PTC_API int ptc_feature_broken(enum ptc_feature bit, uint64_t off, struct ptc_err *err);

/* Take an entry that is a string: CMDLINE, and the lists of CPU_TOPOLOGY. */
PTC_API int ptc_feature_next_string(struct ptc_feature_iter *it, const char **ret,
				    struct ptc_err *err);

/* --- the machine: CPUs, nodes, caches, memory --- */

/* NRCPUS: number of CPUs. */
struct ptc_nrcpus {
	uint32_t available, online;
};
/*
 * The ptc_feature_get_... functions take their feature from the front of @c. If the section is too
 * short, they return false and do not move @c.
 */
PTC_API bool ptc_feature_get_nrcpus(struct ptc_cur *c, struct ptc_nrcpus *ret);

/* TOTAL_MEM: memory in KiB. */
PTC_API bool ptc_feature_get_total_mem(struct ptc_cur *c, uint64_t *ret_kib);

/*
 * CPU_TOPOLOGY. It grew twice: an old section ends after the threads, a newer one after the ids.
 * Sets of CPUs are strings ("0-3,8").
 */
struct ptc_cpu_topology {
	struct ptc_feature_iter packages; /* strings: the CPUs of each socket (or die) */
	struct ptc_feature_iter threads;  /* strings: the CPUs of each core */
	bool has_ids;
	struct ptc_cur ids; /* for each CPU: u32 core, u32 socket (-1: not known) */
	bool has_dies;
	struct ptc_feature_iter dies; /* strings: the CPUs of each die */
	struct ptc_cur die_ids;	      /* u32 for each CPU */
	struct ptc_cur rest;	      /* bytes that a newer writer appended */
};
/*
 * Parse CPU_TOPOLOGY. @ncpus: number of CPUs with ids, which is NRCPUS.available. Returns 0 or
 * PTC_E_FORMAT.
 */
PTC_API int ptc_feature_parse_cpu_topology(struct ptc_cur section, uint64_t off, uint32_t ncpus,
					   struct ptc_cpu_topology *ret, struct ptc_err *err);

/* NUMA_TOPOLOGY: one node. */
struct ptc_numa_node {
	uint32_t node;
	uint64_t total_kib, free_kib;
	const char *cpus; /* CPU list; borrowed */
};
/* Take the next node. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_numa(struct ptc_feature_iter *it, struct ptc_numa_node *ret,
				  struct ptc_err *err);

/* CACHE: one cache. Borrowed strings as in sysfs: "Data", "32K", "0-1". */
struct ptc_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus;
};
/* Open CACHE. PTC_E_UNSUPPORTED: the version is not 1. */
PTC_API int ptc_feature_open_cache(struct ptc_cur section, uint64_t off,
				   struct ptc_feature_iter *ret, struct ptc_err *err);
/* Take the next cache. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_cache(struct ptc_feature_iter *it, struct ptc_cache *ret,
				   struct ptc_err *err);

/* MEM_TOPOLOGY: the memory blocks of one node. */
struct ptc_mem_node {
	uint64_t node;
	uint64_t size;	    /* bits in set */
	struct ptc_cur set; /* u64 words; bit N is the block memoryN of sysfs */
};
/*
 * Open MEM_TOPOLOGY. *@ret_block_bytes: bytes of a memory block. PTC_E_UNSUPPORTED: the version is
 * not 1.
 */
PTC_API int ptc_feature_open_mem_topology(struct ptc_cur section, uint64_t off,
					  struct ptc_feature_iter *ret, uint64_t *ret_block_bytes,
					  struct ptc_err *err);
/* Take the next node. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_mem_node(struct ptc_feature_iter *it, struct ptc_mem_node *ret,
				      struct ptc_err *err);

/* HYBRID_TOPOLOGY: the CPUs of one PMU. */
struct ptc_hybrid_node {
	const char *pmu, *cpus; /* borrowed */
};
/* Take the next PMU. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_hybrid(struct ptc_feature_iter *it, struct ptc_hybrid_node *ret,
				    struct ptc_err *err);

/* CPU_DOMAIN_INFO: the scheduler's domains from /proc/schedstat (perf of Linux 7.0). */
struct ptc_domain {
	uint32_t domain;
	const char *name; /* NULL: schedstat before version 17 */
	const char *mask; /* hex; borrowed */
	const char *cpus; /* CPU list; borrowed */
};
/* The domains of one CPU. */
struct ptc_cpu_domains {
	uint32_t cpu;
	struct ptc_feature_iter domains;
};
/* The head of CPU_DOMAIN_INFO, and an iterator over its CPUs. */
struct ptc_domain_info {
	uint32_t schedstat_version;
	uint32_t max_domains;
	struct ptc_feature_iter cpus; /* to the section's end; the section has no count */
};
/* Parse the head. Returns 0 or PTC_E_FORMAT. */
PTC_API int ptc_feature_parse_domain_info(struct ptc_cur section, uint64_t off,
					  struct ptc_domain_info *ret, struct ptc_err *err);
/*
 * Take the next CPU of @it (info->cpus), or the next domain of a CPU. Return 1, 0 at the end, or
 * PTC_E_FORMAT.
 */
PTC_API int ptc_feature_next_cpu_domains(const struct ptc_domain_info *info,
					 struct ptc_feature_iter *it, struct ptc_cpu_domains *ret,
					 struct ptc_err *err);
PTC_API int ptc_feature_next_domain(const struct ptc_domain_info *info, struct ptc_feature_iter *it,
				    struct ptc_domain *ret, struct ptc_err *err);

/* --- the events and the PMUs --- */

/* EVENT_DESC: an iterator over the section, whose bytes must outlive it. */
struct ptc_event_desc_iter {
	struct ptc_cur cur;
	uint64_t off; /* offset of the section, for messages */
	uint32_t left, attr_size;
};
/* EVENT_DESC: one event with its ids. */
struct ptc_event_desc_entry {
	__extension__ union { /* C99 has no unions without a name */
		struct perf_event_attr attr;
		uint8_t attr_room[PTC_ATTR_ROOM];
	};
	const char *name;   /* borrowed */
	struct ptc_cur ids; /* borrowed; u64 each */
};
/* Open EVENT_DESC. Returns 0 or PTC_E_FORMAT. */
PTC_API int ptc_feature_open_event_desc(struct ptc_cur section, uint64_t off,
					struct ptc_event_desc_iter *ret, struct ptc_err *err);
/* Take the next event. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_event_desc(struct ptc_event_desc_iter *it,
					struct ptc_event_desc_entry *ret, struct ptc_err *err);

/* GROUP_DESC: a group of events that are counted together. */
struct ptc_group_desc {
	const char *name; /* borrowed; "{anon_group}": no name */
	uint32_t leader;  /* index of the group's first event, from 0 */
	uint32_t members; /* number of events: the leader and the following ones */
};
/* Take the next group. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_group(struct ptc_feature_iter *it, struct ptc_group_desc *ret,
				   struct ptc_err *err);

/* PMU_MAPPINGS: the name of a PMU type (attr.type). */
struct ptc_pmu_mapping {
	uint32_t type;
	const char *name; /* borrowed */
};
/* Take the next PMU type. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_pmu_mapping(struct ptc_feature_iter *it, struct ptc_pmu_mapping *ret,
					 struct ptc_err *err);

/* CPU_PMU_CAPS: one capability of the PMU "cpu". Also the lists inside PMU_CAPS. */
struct ptc_pmu_cap {
	const char *name, *value; /* borrowed */
};
/* Take the next capability. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_pmu_cap(struct ptc_feature_iter *it, struct ptc_pmu_cap *ret,
				     struct ptc_err *err);

/* PMU_CAPS: the capabilities of one other PMU. */
struct ptc_pmu_caps {
	const char *pmu; /* borrowed */
	struct ptc_feature_iter caps;
};
/* Take the next PMU. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_pmu_caps(struct ptc_feature_iter *it, struct ptc_pmu_caps *ret,
				      struct ptc_err *err);

/* --- the recording itself, and its contents --- */

/* One entry of BUILD_ID, which is a record inside the section. */
struct ptc_build_id_entry {
	uint16_t misc; /* PERF_RECORD_MISC_USER or _KERNEL */
	int32_t pid;   /* -1: host */
	struct ptc_build_id id;
	const char *filename; /* borrowed */
};
/*
 * Take the next entry of BUILD_ID. Returns 1, 0 at the end, or PTC_E_FORMAT. @off: offset of the
 * section, for messages.
 */
PTC_API int ptc_feature_next_build_id(struct ptc_cur *c, uint64_t off,
				      struct ptc_build_id_entry *ret, struct ptc_err *err);

/* AUXTRACE: the location of one AUXTRACE record. */
struct ptc_auxtrace_entry {
	uint64_t off;  /* offset of the record in the file */
	uint64_t size; /* bytes of the record, without the trace behind it */
};
/* Take the next location. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_auxtrace(struct ptc_feature_iter *it, struct ptc_auxtrace_entry *ret,
				      struct ptc_err *err);

/* SAMPLE_TIME: times of the first and the last sample. */
struct ptc_sample_time {
	uint64_t first_ns, last_ns;
};
PTC_API bool ptc_feature_get_sample_time(struct ptc_cur *c, struct ptc_sample_time *ret);

/* CLOCKID: resolution in ns of the clock of the records. */
PTC_API bool ptc_feature_get_clockid(struct ptc_cur *c, uint64_t *ret_res_ns);

/* DIR_FORMAT: version of the folder format, for a recording that is a folder. */
PTC_API bool ptc_feature_get_dir_format(struct ptc_cur *c, uint64_t *ret_version);

/* COMPRESSED: the file has COMPRESSED records. */
enum { PTC_COMPRESSED_VERSION = 1, PTC_COMPRESSED_ZSTD = 1 };
struct ptc_compressed {
	uint32_t version; /* PTC_COMPRESSED_VERSION */
	uint32_t type;	  /* PTC_COMPRESSED_ZSTD */
	uint32_t level;
	uint32_t ratio; /* input bytes per output byte, rounded */
	/* Upper bound of the bytes in one COMPRESSED record after decompression. */
	uint32_t mmap_len;
};
PTC_API bool ptc_feature_get_compressed(struct ptc_cur *c, struct ptc_compressed *ret);

/* CLOCK_DATA: one moment by the wall clock and by the clock of the records. */
struct ptc_clock_data {
	uint32_t version; /* 1 */
	uint32_t clockid; /* CLOCK_MONOTONIC, ... */
	uint64_t wall_ns; /* ns since 1970 */
	uint64_t clock_ns;
};
PTC_API bool ptc_feature_get_clock_data(struct ptc_cur *c, struct ptc_clock_data *ret);

/* --- kernel metadata: formats of tracepoints, BPF programs and their types --- */

/* Take the next blob, a u64 size and bytes: a file of tracefs. */
PTC_API int ptc_feature_next_blob(struct ptc_feature_iter *it, struct ptc_cur *ret,
				  struct ptc_err *err);

/* TRACING_DATA: one folder of events. */
struct ptc_trace_system {
	const char *name;		 /* borrowed */
	struct ptc_feature_iter formats; /* blobs: texts, one per event */
};

/* TRACING_DATA: files of tracefs (layout: tools/perf/util/trace-event-info.c). */
struct ptc_tracing_data {
	const char *version; /* "0.6"; borrowed */
	uint8_t long_size;
	uint32_t page_size;
	struct ptc_cur header_page, header_event; /* texts, without a NUL */
	struct ptc_feature_iter ftrace;		  /* blobs: formats of ftrace's own events */
	struct ptc_feature_iter systems;
	struct ptc_cur kallsyms, printk, cmdlines;
	struct ptc_cur rest; /* bytes that a newer writer appended */
};
/* Parse TRACING_DATA. PTC_E_UNSUPPORTED: recorded on a big-endian machine. */
PTC_API int ptc_feature_parse_tracing_data(struct ptc_cur section, uint64_t off,
					   struct ptc_tracing_data *ret, struct ptc_err *err);
/* Take the next folder of events. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_trace_system(struct ptc_feature_iter *it, struct ptc_trace_system *ret,
					  struct ptc_err *err);

/* BPF_PROG_INFO: one BPF program. */
struct ptc_bpf_prog {
	uint64_t arrays;     /* arrays in data: bits of enum perf_bpil_array_types */
	struct ptc_cur info; /* struct bpf_prog_info, of the writer's size; borrowed */
	struct ptc_cur data; /* the arrays, addressed by offsets in info; borrowed */
	/* The fields below are from info; 0 if info is too short for them. */
	uint32_t type, id;
	uint8_t tag[8];
	uint32_t jited_len, xlated_len;
	uint64_t load_time_ns; /* ns since boot */
	uint32_t uid;
	char name[17];
};
/* Take the next program. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_bpf_prog(struct ptc_feature_iter *it, struct ptc_bpf_prog *ret,
				      struct ptc_err *err);

/* BPF_BTF: one BTF object. */
struct ptc_bpf_btf {
	uint32_t id;
	struct ptc_cur data; /* borrowed */
};
/* Take the next object. Returns 1, 0 at the end, or PTC_E_FORMAT. */
PTC_API int ptc_feature_next_bpf_btf(struct ptc_feature_iter *it, struct ptc_bpf_btf *ret,
				     struct ptc_err *err);

/* Returns the name of a feature bit: "HOSTNAME", ...; static; NULL for an unknown bit. */
PTC_API const char *ptc_feature_name(unsigned int bit);

/*
 * Parse every entry of a section. @off: offset of the section in the file, for messages. @ncpus:
 * NRCPUS.available, for CPU_TOPOLOGY. *@ret_rest: the bytes after everything known of the feature;
 * for an unknown feature all bytes. Returns 0, PTC_E_FORMAT or PTC_E_UNSUPPORTED.
 */
PTC_API int ptc_feature_check(enum ptc_feature bit, struct ptc_cur section, uint64_t off,
			      uint32_t ncpus, struct ptc_cur *ret_rest, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
