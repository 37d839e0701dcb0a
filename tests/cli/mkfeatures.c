/* SPDX-License-Identifier: MIT */
/* The features that ptcap record does not write, for mkrec. */
#include "mkfeatures.h"

static const char *const packages[] = { "0-1" };
static const char *const threads[] = { "0", "1" };
static const uint32_t ids[] = { 0, 1 }, zeros[] = { 0, 0 };
static const struct ptc_pmu_cap caps[] = { { "branches", "32" }, { "max_precise", "3" } };

static void put_topology(struct ptc_buf *b)
{
	static const struct ptc_cpu_topology_desc d = { packages, threads, packages, 1,	    2,
							1,	  ids,	   zeros,    zeros, 2 };

	ptc_feature_put_cpu_topology(b, &d);
}

static void put_numa(struct ptc_buf *b)
{
	ptc_feature_put_numa(b, &(struct ptc_numa_node){ 0, 4096, 1024, "0-1" }, 1);
}

static void put_groups(struct ptc_buf *b)
{
	ptc_feature_put_groups(b, &(struct ptc_group_desc){ "pair", 0, 2 }, 1);
}

static void put_cache(struct ptc_buf *b)
{
	ptc_feature_put_cache(b, &(struct ptc_cache){ 2, 64, 1024, 4, "Unified", "256K", "0-1" },
			      1);
}

static void put_mem(struct ptc_buf *b)
{
	static const uint8_t set[16] = { 0xf7, 0x01, [8] = 1 };
	const struct ptc_mem_node n = { 0, 65, ptc_cur_init(set, sizeof(set)) };

	ptc_feature_put_mem_topology(b, 1 << 27, &n, 1);
}

static void put_clockid(struct ptc_buf *b)
{
	ptc_feature_put_clockid(b, 1);
}

static void put_programs(struct ptc_buf *b)
{
	static const uint8_t info[80] = { 6, 0, 0, 0, 17, 0, 0, 0, 0xab, 0xcd, [64] = 'p', 'r' };
	const struct ptc_bpf_prog p = { .info = ptc_cur_init(info, sizeof(info)),
					.data = ptc_cur_init("", 0) };

	ptc_feature_put_bpf_progs(b, &p, 1);
}

static void put_btfs(struct ptc_buf *b)
{
	ptc_feature_put_bpf_btfs(b, &(struct ptc_bpf_btf){ 3, ptc_cur_init("types", 5) }, 1);
}

static void put_compressed(struct ptc_buf *b)
{
	ptc_feature_put_compressed(b, &(struct ptc_compressed){ 1, 1, 3, 5, 65536 });
}

static void put_cpu_caps(struct ptc_buf *b)
{
	ptc_feature_put_cpu_pmu_caps(b, caps, 2);
}

static void put_clock(struct ptc_buf *b)
{
	ptc_feature_put_clock_data(
		b, &(struct ptc_clock_data){ 1, 4, 1700000000000000000, 6000000000 });
}

static void put_hybrid(struct ptc_buf *b)
{
	static const struct ptc_hybrid_node n[] = { { "cpu_core", "0" }, { "cpu_atom", "1" } };

	ptc_feature_put_hybrid(b, n, 2);
}

static void put_pmu_caps(struct ptc_buf *b)
{
	ptc_feature_put_pmu_caps(b, &(struct ptc_pmu_caps_desc){ "cpu_atom", caps, 2 }, 1);
}

static void put_domains(struct ptc_buf *b)
{
	ptc_feature_put_domain_info(b, 17, 1);
	ptc_feature_put_cpu_domains(b, 17, 1, &(struct ptc_domain){ 0, "MC", "3", "0-1" }, 1);
}

static void put_nothing(struct ptc_buf *b)
{
	(void)b;
}

static void put_dir_format(struct ptc_buf *b)
{
	ptc_feature_put_dir_format(b, 1);
}

static void put_tracing(struct ptc_buf *b)
{
	static const char systems[] = "sched\0\1\0\0\0\3\0\0\0\0\0\0\0fmt";
	const struct ptc_tracing_data t = {
		.version = "0.6",
		.long_size = 8,
		.page_size = 4096,
		.header_page = ptc_cur_init("page", 4),
		.systems = { .cur = ptc_cur_init(systems, sizeof(systems) - 1), .left = 1 },
	};

	ptc_feature_put_tracing_data(b, &t);
}

int mkfeatures(struct ptc_writer *w, bool all, struct ptc_err *err)
{
	static const struct {
		enum ptc_feature bit;
		void (*put)(struct ptc_buf *b);
	} table[] = {
		{ PTC_FEAT_CPU_TOPOLOGY, put_topology },
		{ PTC_FEAT_NUMA_TOPOLOGY, put_numa },
		{ PTC_FEAT_GROUP_DESC, put_groups },
		{ PTC_FEAT_CACHE, put_cache },
		{ PTC_FEAT_MEM_TOPOLOGY, put_mem },
		{ PTC_FEAT_CLOCKID, put_clockid },
		{ PTC_FEAT_BPF_PROG_INFO, put_programs },
		{ PTC_FEAT_BPF_BTF, put_btfs },
		{ PTC_FEAT_COMPRESSED, put_compressed },
		{ PTC_FEAT_CPU_PMU_CAPS, put_cpu_caps },
		{ PTC_FEAT_CLOCK_DATA, put_clock },
		{ PTC_FEAT_HYBRID_TOPOLOGY, put_hybrid },
		{ PTC_FEAT_PMU_CAPS, put_pmu_caps },
		{ PTC_FEAT_CPU_DOMAIN_INFO, put_domains },
		/* Not for perf, which would look for the data that these features announce. */
		{ PTC_FEAT_BRANCH_STACK, put_nothing },
		{ PTC_FEAT_STAT, put_nothing },
		{ PTC_FEAT_DIR_FORMAT, put_dir_format },
		{ PTC_FEAT_TRACING_DATA, put_tracing },
	};
	const size_t n = sizeof(table) / sizeof(table[0]) - (all ? 0 : 4);
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		ptc_buf_reset(&b);
		table[i].put(&b);
		rc = ptc_writer_feature(w, table[i].bit, b.bytes, b.len, err);
	}
	ptc_buf_release(&b);
	return rc;
}
