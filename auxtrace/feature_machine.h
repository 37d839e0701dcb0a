/* SPDX-License-Identifier: MIT */
/*
 * Features that tell of the machine: CPUs, nodes, caches, memory. Parsing and
 * writing as feature_base.h says.
 */
#ifndef PTC_AUXTRACE_FEATURE_MACHINE_H
#define PTC_AUXTRACE_FEATURE_MACHINE_H

#include "auxtrace/feature_base.h"

/* NRCPUS */
struct ptc_nrcpus {
	uint32_t available, online;
};
void ptc_feature_put_nrcpus(struct ptc_buf *b, uint32_t avail, uint32_t online);
/* False, moving nothing, if @c is too short; so the other ..._get_... functions. */
bool ptc_feature_get_nrcpus(struct ptc_cur *c, struct ptc_nrcpus *ret);

/* TOTAL_MEM: KiB */
void ptc_feature_put_total_mem(struct ptc_buf *b, uint64_t kib);
bool ptc_feature_get_total_mem(struct ptc_cur *c, uint64_t *ret_kib);

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
int ptc_feature_parse_cpu_topology(struct ptc_cur section, uint64_t off, uint32_t ncpus,
				   struct ptc_cpu_topology *ret, struct ptc_err *err);
struct ptc_cpu_topology_desc {
	const char *const *packages, *const *threads, *const *dies;
	size_t npackages, nthreads, ndies;
	const uint32_t *core_ids, *socket_ids; /* NULL: the old form */
	const uint32_t *die_ids;	       /* NULL: the form without dies */
	size_t ncpus;			       /* of each array of ids */
};
void ptc_feature_put_cpu_topology(struct ptc_buf *b, const struct ptc_cpu_topology_desc *d);

/* NUMA_TOPOLOGY */
struct ptc_numa_node {
	uint32_t node;
	uint64_t total_kib, free_kib;
	const char *cpus; /* a list; lent */
};
int ptc_feature_next_numa(struct ptc_feature_iter *it, struct ptc_numa_node *ret,
			  struct ptc_err *err);
void ptc_feature_put_numa(struct ptc_buf *b, const struct ptc_numa_node *nodes, size_t n);

/* CACHE. Lent strings, as sysfs has them: "Data", "32K", "0-1". */
struct ptc_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus;
};
/* PTC_E_UNSUPPORTED: a version other than 1, the only one there is. */
int ptc_feature_open_cache(struct ptc_cur section, uint64_t off, struct ptc_feature_iter *ret,
			   struct ptc_err *err);
int ptc_feature_next_cache(struct ptc_feature_iter *it, struct ptc_cache *ret, struct ptc_err *err);
void ptc_feature_put_cache(struct ptc_buf *b, const struct ptc_cache *caches, size_t n);

/* MEM_TOPOLOGY: which blocks of memory are on which node. */
struct ptc_mem_node {
	uint64_t node;
	uint64_t size;	    /* bits */
	struct ptc_cur set; /* u64 words of bits, one a block: memoryN of sysfs */
};
/* PTC_E_UNSUPPORTED: a version other than 1, the only one there is. */
int ptc_feature_open_mem_topology(struct ptc_cur section, uint64_t off,
				  struct ptc_feature_iter *ret, uint64_t *ret_block_bytes,
				  struct ptc_err *err);
int ptc_feature_next_mem_node(struct ptc_feature_iter *it, struct ptc_mem_node *ret,
			      struct ptc_err *err);
/* Each node's set must have the words that its size needs. */
void ptc_feature_put_mem_topology(struct ptc_buf *b, uint64_t block_bytes,
				  const struct ptc_mem_node *nodes, size_t n);

/* HYBRID_TOPOLOGY */
struct ptc_hybrid_node {
	const char *pmu, *cpus; /* lent */
};
int ptc_feature_next_hybrid(struct ptc_feature_iter *it, struct ptc_hybrid_node *ret,
			    struct ptc_err *err);
void ptc_feature_put_hybrid(struct ptc_buf *b, const struct ptc_hybrid_node *nodes, size_t n);

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
int ptc_feature_parse_domain_info(struct ptc_cur section, uint64_t off, struct ptc_domain_info *ret,
				  struct ptc_err *err);
int ptc_feature_next_cpu_domains(const struct ptc_domain_info *info, struct ptc_feature_iter *it,
				 struct ptc_cpu_domains *ret, struct ptc_err *err);
int ptc_feature_next_domain(const struct ptc_domain_info *info, struct ptc_feature_iter *it,
			    struct ptc_domain *ret, struct ptc_err *err);
/* Append the head, then for each CPU its number and domains. */
void ptc_feature_put_domain_info(struct ptc_buf *b, uint32_t schedstat_version,
				 uint32_t max_domains);
void ptc_feature_put_cpu_domains(struct ptc_buf *b, uint32_t schedstat_version, uint32_t cpu,
				 const struct ptc_domain *d, size_t n);

#endif
