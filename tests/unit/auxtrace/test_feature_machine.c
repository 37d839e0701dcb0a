/* SPDX-License-Identifier: MIT */
/* Description: features that describe the machine are read as they were written. */
#include <criterion/criterion.h>
#include <string.h>

#include "auxtrace/feature/feature.h"

static struct ptc_err err;

static struct ptc_cur all(const struct ptc_buf *b)
{
	return ptc_cur_init(b->bytes, b->len);
}

static const char *const packages[] = { "0-3" }, *const threads[] = { "0,2", "1,3" };
static const uint32_t cores[] = { 0, 1, 0, 1 }, sockets[] = { 0, 0, 0, UINT32_MAX },
		      dies[] = { 5, 6, 7, 8 };

static void strings_are(struct ptc_feature_iter it, const char *const *want, size_t n)
{
	const char *s;
	size_t i;

	for (i = 0; i < n; i++) {
		cr_assert_eq(ptc_feature_next_string(&it, &s, &err), 1);
		cr_assert_str_eq(s, want[i]);
	}
	cr_assert_eq(ptc_feature_next_string(&it, &s, &err), 0);
	cr_assert_eq(ptc_cur_left(&it.cur), 0, "the next list is not this one's");
}

Test(feature_machine, a_topology_comes_in_three_sizes)
{
	struct ptc_cpu_topology_desc d = {
		.packages = packages, .threads = threads, .npackages = 1, .nthreads = 2
	};
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_cpu_topology t;
	uint32_t core, socket, i;

	ptc_feature_put_cpu_topology(&b, &d);
	cr_assert_eq(ptc_feature_parse_cpu_topology(all(&b), 0, 4, &t, &err), 0);
	strings_are(t.packages, packages, 1);
	strings_are(t.threads, threads, 2);
	cr_assert(!t.has_ids && !t.has_dies && !ptc_cur_left(&t.rest));

	d.core_ids = cores;
	d.socket_ids = sockets;
	d.ncpus = 4;
	ptc_buf_reset(&b);
	ptc_feature_put_cpu_topology(&b, &d);
	cr_assert_eq(ptc_feature_parse_cpu_topology(all(&b), 0, 4, &t, &err), 0);
	cr_assert(t.has_ids && !t.has_dies && !ptc_cur_left(&t.rest));
	for (i = 0; i < 4; i++) {
		cr_assert(ptc_cur_le32(&t.ids, &core) && ptc_cur_le32(&t.ids, &socket));
		cr_assert(core == cores[i] && socket == sockets[i]);
	}
	cr_assert_eq(ptc_feature_parse_cpu_topology(all(&b), 0, 5, &t, &err), PTC_E_FORMAT,
		     "a CPU without ids");

	d.dies = packages;
	d.ndies = 1;
	d.die_ids = dies;
	ptc_buf_reset(&b);
	ptc_feature_put_cpu_topology(&b, &d);
	cr_assert_eq(ptc_feature_parse_cpu_topology(all(&b), 0, 4, &t, &err), 0);
	cr_assert(t.has_ids && t.has_dies && !ptc_cur_left(&t.rest));
	strings_are(t.dies, packages, 1);
	for (i = 0; i < 4; i++)
		cr_assert(ptc_cur_le32(&t.die_ids, &core) && core == dies[i]);
	ptc_buf_release(&b);
}

Test(feature_machine, nodes_and_caches_come_back)
{
	const struct ptc_numa_node nodes[] = { { 0, 100, 50, "0" },
					       { 3, 1ull << 40, 60, "1,3-4" } };
	const struct ptc_cache caches[] = { { 1, 64, 32, 8, "Data", "32K", "0" },
					    { 3, 128, 1024, 16, "Unified", "8192K", "0-7" } };
	const struct ptc_hybrid_node hybrid[] = { { "cpu_core", "0-15" }, { "cpu_atom", "16" } };
	struct ptc_feature_iter it;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_hybrid_node h;
	struct ptc_numa_node n;
	struct ptc_cache c;
	size_t i;

	ptc_feature_put_numa(&b, nodes, 2);
	cr_assert_eq(ptc_feature_open(PTC_FEAT_NUMA_TOPOLOGY, all(&b), 0, &it, &err), 0);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_numa(&it, &n, &err), 1);
		cr_assert(n.node == nodes[i].node && n.total_kib == nodes[i].total_kib &&
			  n.free_kib == nodes[i].free_kib && !strcmp(n.cpus, nodes[i].cpus));
	}
	cr_assert_eq(ptc_feature_next_numa(&it, &n, &err), 0);

	ptc_buf_reset(&b);
	ptc_feature_put_cache(&b, caches, 2);
	cr_assert_eq(ptc_feature_open_cache(all(&b), 0, &it, &err), 0);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_cache(&it, &c, &err), 1);
		cr_assert(c.level == caches[i].level && c.line_size == caches[i].line_size &&
			  c.sets == caches[i].sets && c.ways == caches[i].ways);
		cr_assert(!strcmp(c.type, caches[i].type) && !strcmp(c.size, caches[i].size) &&
			  !strcmp(c.cpus, caches[i].cpus));
	}
	cr_assert_eq(ptc_feature_next_cache(&it, &c, &err), 0);
	b.bytes[0] = 2;
	cr_assert_eq(ptc_feature_open_cache(all(&b), 0, &it, &err), PTC_E_UNSUPPORTED);

	ptc_buf_reset(&b);
	ptc_feature_put_hybrid(&b, hybrid, 2);
	cr_assert_eq(ptc_feature_open(PTC_FEAT_HYBRID_TOPOLOGY, all(&b), 0, &it, &err), 0);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_hybrid(&it, &h, &err), 1);
		cr_assert(!strcmp(h.pmu, hybrid[i].pmu) && !strcmp(h.cpus, hybrid[i].cpus));
	}
	ptc_buf_release(&b);
}

Test(feature_machine, memory_is_words_of_bits)
{
	static const uint8_t set[16] = { 0xfe, [8] = 1 };
	const struct ptc_mem_node nodes[] = { { 7, 65, ptc_cur_init(set, 16) },
					      { 9, 0, ptc_cur_init(set, 0) } };
	struct ptc_feature_iter it;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_mem_node n;
	uint64_t block;

	ptc_feature_put_mem_topology(&b, 1 << 27, nodes, 2);
	cr_assert_eq(b.len, 24 + 24 + 16 + 24);
	cr_assert_eq(ptc_feature_open_mem_topology(all(&b), 0, &it, &block, &err), 0);
	cr_assert_eq(block, 1 << 27);
	cr_assert_eq(ptc_feature_next_mem_node(&it, &n, &err), 1);
	cr_assert(n.node == 7 && n.size == 65 && ptc_cur_left(&n.set) == 16);
	cr_assert_eq(memcmp(n.set.pos, set, 16), 0);
	cr_assert_eq(ptc_feature_next_mem_node(&it, &n, &err), 1);
	cr_assert(n.node == 9 && !n.size && !ptc_cur_left(&n.set));
	cr_assert_eq(ptc_feature_next_mem_node(&it, &n, &err), 0);
	b.bytes[0] = 2;
	cr_assert_eq(ptc_feature_open_mem_topology(all(&b), 0, &it, &block, &err),
		     PTC_E_UNSUPPORTED);
	ptc_buf_release(&b);
}

Test(feature_machine, domains_have_names_since_schedstat_17)
{
	const struct ptc_domain want[] = { { 0, "SMT", "3", "0-1" }, { 1, "MC", "f", "0-3" } };
	uint32_t version;

	for (version = 16; version <= 17; version++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_domain_info info;
		struct ptc_cpu_domains cpu;
		struct ptc_domain d;
		uint32_t i, j;

		ptc_feature_put_domain_info(&b, version, 2);
		for (i = 0; i < 3; i++)
			ptc_feature_put_cpu_domains(&b, version, i * 2, want, i);
		cr_assert_eq(ptc_feature_parse_domain_info(all(&b), 0, &info, &err), 0);
		cr_assert(info.schedstat_version == version && info.max_domains == 2);
		for (i = 0; i < 3; i++) {
			cr_assert_eq(ptc_feature_next_cpu_domains(&info, &info.cpus, &cpu, &err),
				     1);
			cr_assert_eq(cpu.cpu, i * 2);
			for (j = 0; j < i; j++) {
				cr_assert_eq(ptc_feature_next_domain(&info, &cpu.domains, &d, &err),
					     1);
				cr_assert_eq(d.domain, j);
				cr_assert(version < 17 ? !d.name : !strcmp(d.name, want[j].name));
				cr_assert(!strcmp(d.mask, want[j].mask) &&
					  !strcmp(d.cpus, want[j].cpus));
			}
			cr_assert_eq(ptc_feature_next_domain(&info, &cpu.domains, &d, &err), 0);
			cr_assert_eq(ptc_cur_left(&cpu.domains.cur), 0);
		}
		cr_assert_eq(ptc_feature_next_cpu_domains(&info, &info.cpus, &cpu, &err), 0);
		ptc_buf_release(&b);
	}
}

Test(feature_machine, numbers_come_back)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_nrcpus n;
	struct ptc_cur c;
	uint64_t kib;

	ptc_feature_put_nrcpus(&b, 8, 6);
	ptc_feature_put_total_mem(&b, 1ull << 40);
	c = all(&b);
	cr_assert(ptc_feature_get_nrcpus(&c, &n) && n.available == 8 && n.online == 6);
	cr_assert(ptc_feature_get_total_mem(&c, &kib) && kib == 1ull << 40);
	c = ptc_cur_init(b.bytes, 7);
	cr_assert(!ptc_feature_get_nrcpus(&c, &n) && ptc_cur_left(&c) == 7);
	ptc_buf_release(&b);
}
