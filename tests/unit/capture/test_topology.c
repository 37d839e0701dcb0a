/* SPDX-License-Identifier: MIT */
/*
 * Description: CPUs, caches, nodes and memory of a /sys made by this test, whole and with missing
 * parts.
 */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "capture/host/topology.h"
#include "ptcap/feature.h"

static char root[] = "/tmp/ptcap-test-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void teardown(void)
{
	cr_assert_eq(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

TestSuite(topology, .init = setup, .fini = teardown);

/* Makes a file below /sys/devices/system, with its folders. */
static void put(const char *name, const char *text)
{
	char path[256];
	char *p;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/%s", root, name);
	for (p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "w");
	cr_assert(f && fputs(text, f) >= 0 && !fclose(f), "%s", path);
}

static void put_cpu(int cpu, const char *core, const char *threads)
{
	static const char *const cache[][2] = { { "level", "1\n" },
						{ "coherency_line_size", "64\n" },
						{ "number_of_sets", "128\n" },
						{ "ways_of_associativity", "8\n" },
						{ "type", "Data\n" },
						{ "size", "32K\n" } };
	char name[64];
	size_t i;
	int index;

	(void)snprintf(name, sizeof(name), "cpu/cpu%d/topology/core_id", cpu);
	put(name, core);
	(void)snprintf(name, sizeof(name), "cpu/cpu%d/topology/physical_package_id", cpu);
	put(name, "3\n");
	(void)snprintf(name, sizeof(name), "cpu/cpu%d/topology/core_siblings_list", cpu);
	put(name, "0-1\n");
	(void)snprintf(name, sizeof(name), "cpu/cpu%d/topology/core_cpus_list", cpu);
	put(name, threads);
	for (index = 0; index < 2; index++) {
		for (i = 0; i < sizeof(cache) / sizeof(cache[0]); i++) {
			(void)snprintf(name, sizeof(name), "cpu/cpu%d/cache/index%d/%s", cpu, index,
				       cache[i][0]);
			put(name, i == 0 && !index ? "3\n" : cache[i][1]);
		}
		(void)snprintf(name, sizeof(name), "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu,
			       index);
		put(name, index ? threads : "0-1\n");
	}
}

static struct ptc_file *write_and_open(uint32_t ncpus)
{
	const struct ptc_seg seg[2] = { { "\77\0\0\0\0\0\10", 8 }, { NULL, 0 } };
	struct ptc_writer *w = NULL;
	struct ptc_file *f = NULL;
	struct ptc_err err;
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/perf.data", root);
	cr_assert_eq(ptc_writer_new(path, &w, &err), 0);
	cr_assert_eq(ptc_writer_records(w, seg, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_topology_write(w, root, ncpus, &err), 0);
	cr_assert_eq(ptc_writer_commit(w, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	return f;
}

static void expect_next(struct ptc_feature_iter *it, const char *want)
{
	struct ptc_err err;
	const char *s;

	cr_assert_eq(ptc_feature_next_string(it, &s, &err), 1);
	cr_assert_str_eq(s, want);
}

Test(topology, of_cpus)
{
	struct ptc_cpu_topology t;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t off;

	put_cpu(0, "7\n", "0\n");
	put_cpu(1, "9\n", "1\n");
	f = write_and_open(3); /* one CPU is missing */
	cr_assert(ptc_file_feature(f, PTC_FEAT_CPU_TOPOLOGY, &c, &off));
	cr_assert_eq(ptc_feature_parse_cpu_topology(c, off, 3, &t, &err), 0, "%s", err.msg);
	cr_assert_eq(t.packages.left, 1);
	expect_next(&t.packages, "0-1");
	cr_assert_eq(t.threads.left, 2);
	expect_next(&t.threads, "0");
	expect_next(&t.threads, "1");
	cr_assert(t.has_ids && !t.has_dies && !ptc_cur_left(&t.rest));
	cr_assert(ptc_le32(t.ids.pos) == 7 && ptc_le32(t.ids.pos + 4) == 3);
	cr_assert(ptc_le32(t.ids.pos + 8) == 9 && ptc_le32(t.ids.pos + 12) == 3);
	cr_assert(ptc_le32(t.ids.pos + 16) == UINT32_MAX);
	ptc_file_free(f);
}

Test(topology, of_cpus_with_dies)
{
	struct ptc_cpu_topology t;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t off;

	put_cpu(0, "7\n", "0\n");
	put("cpu/cpu0/topology/die_cpus_list", "0\n");
	put("cpu/cpu0/topology/die_id", "5\n");
	put("cpu/cpu0/topology/package_cpus_list", "0-9\n");
	f = write_and_open(1);
	cr_assert(ptc_file_feature(f, PTC_FEAT_CPU_TOPOLOGY, &c, &off));
	cr_assert_eq(ptc_feature_parse_cpu_topology(c, off, 1, &t, &err), 0);
	expect_next(&t.packages, "0-9");
	cr_assert(t.has_dies && ptc_le32(t.die_ids.pos) == 5);
	expect_next(&t.dies, "0");
	ptc_file_free(f);
}

Test(topology, of_caches_each_once_and_by_level)
{
	static const struct {
		uint32_t level;
		const char *cpus;
	} want[] = { { 1, "0" }, { 1, "1" }, { 3, "0-1" } };
	struct ptc_feature_iter it;
	struct ptc_cache cache;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t off;
	size_t i;

	put_cpu(0, "0\n", "0\n");
	put_cpu(1, "1\n", "1\n");
	f = write_and_open(2);
	cr_assert(ptc_file_feature(f, PTC_FEAT_CACHE, &c, &off));
	cr_assert_eq(ptc_feature_open_cache(c, off, &it, &err), 0);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(ptc_feature_next_cache(&it, &cache, &err), 1);
		cr_assert_eq(cache.level, want[i].level);
		cr_assert_str_eq(cache.cpus, want[i].cpus);
		cr_assert(cache.line_size == 64 && cache.sets == 128 && cache.ways == 8);
		cr_assert(!strcmp(cache.type, "Data") && !strcmp(cache.size, "32K"));
	}
	cr_assert_eq(ptc_feature_next_cache(&it, &cache, &err), 0);
	ptc_file_free(f);
}

Test(topology, of_nodes_and_their_memory)
{
	struct ptc_feature_iter it;
	struct ptc_numa_node node;
	struct ptc_mem_node mem;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t off, block;

	put("node/online", "0,2\n");
	put("node/node2/meminfo", "Node 2 MemTotal:  300 kB\nNode 2 MemFree: 20 kB\n");
	put("node/node2/cpulist", "1\n");
	put("node/node0/meminfo", "Node 0 MemTotal:  100 kB\nNode 0 MemFree: 10 kB\n");
	put("node/node0/cpulist", "0\n");
	put("node/node0/memory3/state", "online\n");
	put("node/node0/memory70/state", "online\n");
	put("memory/block_size_bytes", "8000000\n");
	f = write_and_open(1);
	cr_assert(ptc_file_feature(f, PTC_FEAT_NUMA_TOPOLOGY, &c, &off));
	cr_assert_eq(ptc_feature_open(PTC_FEAT_NUMA_TOPOLOGY, c, off, &it, &err), 0);
	cr_assert_eq(ptc_feature_next_numa(&it, &node, &err), 1);
	cr_assert(node.node == 0 && node.total_kib == 100 && node.free_kib == 10);
	cr_assert_eq(ptc_feature_next_numa(&it, &node, &err), 1);
	cr_assert(node.node == 2 && node.total_kib == 300 && node.free_kib == 20);
	cr_assert_str_eq(node.cpus, "1");
	cr_assert_eq(ptc_feature_next_numa(&it, &node, &err), 0);

	cr_assert(ptc_file_feature(f, PTC_FEAT_MEM_TOPOLOGY, &c, &off));
	cr_assert_eq(ptc_feature_open_mem_topology(c, off, &it, &block, &err), 0);
	cr_assert_eq(block, 0x8000000);
	cr_assert_eq(ptc_feature_next_mem_node(&it, &mem, &err), 1);
	cr_assert(mem.node == 0 && mem.size == 71 && ptc_cur_left(&mem.set) == 16);
	cr_assert(ptc_le64(mem.set.pos) == 8 && ptc_le64(mem.set.pos + 8) == 64);
	cr_assert_eq(ptc_feature_next_mem_node(&it, &mem, &err), 1);
	cr_assert(mem.node == 2 && mem.size == 0);
	ptc_file_free(f);
}

Test(topology, what_is_not_there_is_left_out)
{
	static const unsigned int bits[] = { PTC_FEAT_CPU_TOPOLOGY, PTC_FEAT_NUMA_TOPOLOGY,
					     PTC_FEAT_CACHE, PTC_FEAT_MEM_TOPOLOGY };
	struct ptc_file *f;
	struct ptc_cur c;
	size_t i;

	put("node/node0/meminfo", "rubbish");
	put("memory/block_size_bytes", "nothing\n");
	put("cpu/cpu0/cache/index0/level", "x\n");
	f = write_and_open(2);
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		cr_assert(!ptc_file_feature(f, bits[i], &c, NULL), "%s", ptc_feature_name(bits[i]));
	ptc_file_free(f);
}
