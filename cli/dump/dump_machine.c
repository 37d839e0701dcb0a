/* SPDX-License-Identifier: MIT */
/* `ptcap dump`: features about the machine. */
#include "cli/dump/dump_feature.h"

/* Print core, socket and die of each CPU, from two arrays. */
static void show_cpu_ids(struct ptc_emit *e, struct ptc_cpu_topology *t)
{
	uint32_t cpu, core, socket, die;

	ptc_emit_rows(e, "cpus");
	for (cpu = 0; ptc_cur_le32(&t->ids, &core) && ptc_cur_le32(&t->ids, &socket); cpu++) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "cpu", cpu);
		ptc_emit_i64(e, "core", (int32_t)core);
		ptc_emit_i64(e, "socket", (int32_t)socket);
		if (ptc_cur_le32(&t->die_ids, &die))
			ptc_emit_i64(e, "die", (int32_t)die);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

int ptc_dump_topology(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_cpu_topology t;
	int rc = ptc_feature_parse_cpu_topology(s->c, s->off, s->ncpus, &t, err);

	if (!rc)
		rc = ptc_dump_strings(e, "packages", t.packages, err);
	if (!rc)
		rc = ptc_dump_strings(e, "threads", t.threads, err);
	if (!rc && t.has_dies)
		rc = ptc_dump_strings(e, "dies", t.dies, err);
	if (!rc && t.has_ids)
		show_cpu_ids(e, &t);
	return rc;
}

int ptc_dump_numa(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_numa_node v;
	int rc = ptc_dump_rows(e, s, "nodes", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_numa(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "node", v.node);
		ptc_emit_u64(e, "total_kib", v.total_kib);
		ptc_emit_u64(e, "free_kib", v.free_kib);
		ptc_emit_text(e, "cpus", v.cpus);
		ptc_emit_end(e);
	}
	return rc;
}

int ptc_dump_hybrid(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_hybrid_node v;
	int rc = ptc_dump_rows(e, s, "pmus", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_hybrid(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_text(e, "pmu", v.pmu);
		ptc_emit_text(e, "cpus", v.cpus);
		ptc_emit_end(e);
	}
	return rc;
}

int ptc_dump_cache(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_cache v;
	int rc = ptc_feature_open_cache(s->c, s->off, &it, err);

	if (rc)
		return rc;
	ptc_emit_rows(e, "caches");
	while ((rc = ptc_feature_next_cache(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "level", v.level);
		ptc_emit_u64(e, "line_size", v.line_size);
		ptc_emit_u64(e, "sets", v.sets);
		ptc_emit_u64(e, "ways", v.ways);
		ptc_emit_text(e, "type", v.type);
		ptc_emit_text(e, "size", v.size);
		ptc_emit_text(e, "cpus", v.cpus);
		ptc_emit_end(e);
	}
	return rc;
}

/* Print the memory blocks of a node as ranges from first to last. */
static void show_blocks(struct ptc_emit *e, const struct ptc_mem_node *n)
{
	uint64_t word = 0, first = 0, bit;
	struct ptc_cur c = n->set;
	bool inside = false;

	ptc_emit_rows(e, "blocks");
	for (bit = 0; bit <= n->size; bit++) {
		bool set = false;

		if (bit < n->size) {
			if (bit % 64 == 0)
				(void)ptc_cur_le64(&c, &word);
			set = word >> bit % 64 & 1;
		}
		if (set && !inside)
			first = bit;
		if (!set && inside) {
			ptc_emit_row(e);
			ptc_emit_u64(e, "first", first);
			ptc_emit_u64(e, "last", bit - 1);
			ptc_emit_end(e);
		}
		inside = set;
	}
	ptc_emit_end(e);
}

int ptc_dump_mem_topology(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_mem_node n;
	uint64_t block;
	int rc = ptc_feature_open_mem_topology(s->c, s->off, &it, &block, err);

	if (rc)
		return rc;
	ptc_emit_u64(e, "block_bytes", block);
	ptc_emit_rows(e, "nodes");
	while ((rc = ptc_feature_next_mem_node(&it, &n, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "node", n.node);
		ptc_emit_u64(e, "size", n.size);
		show_blocks(e, &n);
		ptc_emit_end(e);
	}
	return rc;
}

int ptc_dump_domains(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_domain_info info;
	struct ptc_cpu_domains cpu;
	struct ptc_domain d;
	int rc = ptc_feature_parse_domain_info(s->c, s->off, &info, err);

	if (rc)
		return rc;
	ptc_emit_u64(e, "schedstat_version", info.schedstat_version);
	ptc_emit_u64(e, "max_domains", info.max_domains);
	ptc_emit_rows(e, "cpus");
	while ((rc = ptc_feature_next_cpu_domains(&info, &info.cpus, &cpu, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "cpu", cpu.cpu);
		ptc_emit_rows(e, "domains");
		while (ptc_feature_next_domain(&info, &cpu.domains, &d, err) > 0) {
			ptc_emit_row(e);
			ptc_emit_u64(e, "domain", d.domain);
			ptc_emit_text(e, "name", d.name);
			ptc_emit_text(e, "mask", d.mask);
			ptc_emit_text(e, "cpus", d.cpus);
			ptc_emit_end(e);
		}
		ptc_emit_end(e);
		ptc_emit_end(e);
	}
	return rc;
}
