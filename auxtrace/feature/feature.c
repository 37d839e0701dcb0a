/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature.h"

typedef int next_fn(struct ptc_feature_iter *it, struct ptc_err *err);

#define NEXT(name, type, next)                                                                     \
	static int name(struct ptc_feature_iter *it, struct ptc_err *err)                          \
	{                                                                                          \
		type entry;                                                                        \
                                                                                                   \
		return next(it, &entry, err);                                                      \
	}

NEXT(next_string, const char *, ptc_feature_next_string)
NEXT(next_numa, struct ptc_numa_node, ptc_feature_next_numa)
NEXT(next_pmu, struct ptc_pmu_mapping, ptc_feature_next_pmu_mapping)
NEXT(next_group, struct ptc_group_desc, ptc_feature_next_group)
NEXT(next_auxtrace, struct ptc_auxtrace_entry, ptc_feature_next_auxtrace)
NEXT(next_cache, struct ptc_cache, ptc_feature_next_cache)
NEXT(next_mem_node, struct ptc_mem_node, ptc_feature_next_mem_node)
NEXT(next_bpf_prog, struct ptc_bpf_prog, ptc_feature_next_bpf_prog)
NEXT(next_bpf_btf, struct ptc_bpf_btf, ptc_feature_next_bpf_btf)
NEXT(next_cap, struct ptc_pmu_cap, ptc_feature_next_pmu_cap)
NEXT(next_hybrid, struct ptc_hybrid_node, ptc_feature_next_hybrid)
NEXT(next_caps, struct ptc_pmu_caps, ptc_feature_next_pmu_caps)

static int parse_feature_entries(struct ptc_feature_iter *it, next_fn *next,
				 struct ptc_cur *ret_rest, struct ptc_err *err)
{
	int rc;

	while ((rc = next(it, err)) > 0)
		;
	*ret_rest = it->cur;
	return rc;
}

/* Features that are a count and entries. */
static next_fn *const lists[] = {
	[PTC_FEAT_CMDLINE] = next_string,	  [PTC_FEAT_NUMA_TOPOLOGY] = next_numa,
	[PTC_FEAT_PMU_MAPPINGS] = next_pmu,	  [PTC_FEAT_GROUP_DESC] = next_group,
	[PTC_FEAT_AUXTRACE] = next_auxtrace,	  [PTC_FEAT_BPF_PROG_INFO] = next_bpf_prog,
	[PTC_FEAT_BPF_BTF] = next_bpf_btf,	  [PTC_FEAT_CPU_PMU_CAPS] = next_cap,
	[PTC_FEAT_HYBRID_TOPOLOGY] = next_hybrid, [PTC_FEAT_PMU_CAPS] = next_caps,
};

static int check_event_desc(struct ptc_cur section, uint64_t off, struct ptc_cur *ret_rest,
			    struct ptc_err *err)
{
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	int rc = ptc_feature_open_event_desc(section, off, &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_event_desc(&it, &e, err)) > 0)
		;
	*ret_rest = it.cur;
	return rc;
}

static int check_build_ids(struct ptc_cur section, uint64_t off, struct ptc_cur *ret_rest,
			   struct ptc_err *err)
{
	struct ptc_build_id_entry e;
	int rc;

	while ((rc = ptc_feature_next_build_id(&section, off, &e, err)) > 0)
		;
	*ret_rest = section;
	return rc;
}

static int check_domains(struct ptc_cur section, uint64_t off, struct ptc_cur *ret_rest,
			 struct ptc_err *err)
{
	struct ptc_domain_info info;
	struct ptc_cpu_domains e;
	int rc = ptc_feature_parse_domain_info(section, off, &info, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_cpu_domains(&info, &info.cpus, &e, err)) > 0)
		;
	*ret_rest = info.cpus.cur;
	return rc;
}

/* Check lists that have a head before the count, and features that are no lists. */
static int check_special(enum ptc_feature bit, struct ptc_cur section, uint64_t off, uint32_t ncpus,
			 struct ptc_cur *ret_rest, struct ptc_err *err)
{
	struct ptc_cpu_topology topology;
	struct ptc_tracing_data tracing;
	struct ptc_feature_iter it;
	uint64_t block;
	int rc;

	switch (bit) {
	case PTC_FEAT_TRACING_DATA:
		rc = ptc_feature_parse_tracing_data(section, off, &tracing, err);
		if (!rc)
			*ret_rest = tracing.rest;
		return rc;
	case PTC_FEAT_CPU_TOPOLOGY:
		rc = ptc_feature_parse_cpu_topology(section, off, ncpus, &topology, err);
		if (!rc)
			*ret_rest = topology.rest;
		return rc;
	case PTC_FEAT_CACHE:
		rc = ptc_feature_open_cache(section, off, &it, err);
		return rc ? rc : parse_feature_entries(&it, next_cache, ret_rest, err);
	case PTC_FEAT_MEM_TOPOLOGY:
		rc = ptc_feature_open_mem_topology(section, off, &it, &block, err);
		return rc ? rc : parse_feature_entries(&it, next_mem_node, ret_rest, err);
	case PTC_FEAT_BUILD_ID:
		return check_build_ids(section, off, ret_rest, err);
	case PTC_FEAT_EVENT_DESC:
		return check_event_desc(section, off, ret_rest, err);
	case PTC_FEAT_CPU_DOMAIN_INFO:
		return check_domains(section, off, ret_rest, err);
	default: /* a flag, or an unknown feature: all bytes are left over */
		*ret_rest = section;
		return 0;
	}
}

/* Check features of a fixed layout. Returns 1 if @bit is not one of them. */
static int check_fixed(enum ptc_feature bit, struct ptc_cur *c, uint64_t off, struct ptc_err *err)
{
	struct ptc_clock_data clock;
	struct ptc_compressed comp;
	struct ptc_sample_time t;
	struct ptc_nrcpus n;
	const char *s;
	uint64_t v;
	bool ok;

	switch (bit) {
	case PTC_FEAT_HOSTNAME:
	case PTC_FEAT_OSRELEASE:
	case PTC_FEAT_VERSION:
	case PTC_FEAT_ARCH:
	case PTC_FEAT_CPUDESC:
	case PTC_FEAT_CPUID:
		ok = ptc_feature_get_string(c, &s);
		break;
	case PTC_FEAT_NRCPUS:
		ok = ptc_feature_get_nrcpus(c, &n);
		break;
	case PTC_FEAT_TOTAL_MEM:
	case PTC_FEAT_CLOCKID:
	case PTC_FEAT_DIR_FORMAT:
		ok = ptc_cur_le64(c, &v);
		break;
	case PTC_FEAT_SAMPLE_TIME:
		ok = ptc_feature_get_sample_time(c, &t);
		break;
	case PTC_FEAT_COMPRESSED:
		ok = ptc_feature_get_compressed(c, &comp);
		break;
	case PTC_FEAT_CLOCK_DATA:
		ok = ptc_feature_get_clock_data(c, &clock);
		break;
	default:
		return 1;
	}
	return ok ? 0 : ptc_feature_broken(bit, off, err);
}

int ptc_feature_check(enum ptc_feature bit, struct ptc_cur section, uint64_t off, uint32_t ncpus,
		      struct ptc_cur *ret_rest, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_cur rest = section;
	int rc;

	if (bit < sizeof(lists) / sizeof(lists[0]) && lists[bit]) {
		rc = ptc_feature_open(bit, section, off, &it, err);
		if (!rc)
			rc = parse_feature_entries(&it, lists[bit], &rest, err);
	} else {
		rc = check_fixed(bit, &rest, off, err);
		if (rc > 0)
			rc = check_special(bit, section, off, ncpus, &rest, err);
	}
	if (!rc)
		*ret_rest = rest;
	return rc;
}
