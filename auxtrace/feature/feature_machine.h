/* SPDX-License-Identifier: MIT */
/* Writing the features about the machine: the inverse of the parsers in ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_FEATURE_MACHINE_H
#define PTC_AUXTRACE_FEATURE_FEATURE_MACHINE_H

#include "auxtrace/feature/feature_base.h"
#include "ptcap/feature.h"

void ptc_feature_put_nrcpus(struct ptc_buf *b, uint32_t avail, uint32_t online);
void ptc_feature_put_total_mem(struct ptc_buf *b, uint64_t kib);
struct ptc_cpu_topology_desc {
	const char *const *packages, *const *threads, *const *dies;
	size_t npackages, nthreads, ndies;
	const uint32_t *core_ids, *socket_ids; /* NULL: the old form without ids */
	const uint32_t *die_ids;	       /* NULL: the form without dies */
	size_t ncpus;			       /* length of each array of ids */
};
void ptc_feature_put_cpu_topology(struct ptc_buf *b, const struct ptc_cpu_topology_desc *d);
void ptc_feature_put_numa(struct ptc_buf *b, const struct ptc_numa_node *nodes, size_t n);
void ptc_feature_put_cache(struct ptc_buf *b, const struct ptc_cache *caches, size_t n);
/* Each node's set must have as many words as its size needs. */
void ptc_feature_put_mem_topology(struct ptc_buf *b, uint64_t block_bytes,
				  const struct ptc_mem_node *nodes, size_t n);
void ptc_feature_put_hybrid(struct ptc_buf *b, const struct ptc_hybrid_node *nodes, size_t n);
/* Write the head once, then the number and domains of each CPU. */
void ptc_feature_put_domain_info(struct ptc_buf *b, uint32_t schedstat_version,
				 uint32_t max_domains);
void ptc_feature_put_cpu_domains(struct ptc_buf *b, uint32_t schedstat_version, uint32_t cpu,
				 const struct ptc_domain *d, size_t n);

#endif
