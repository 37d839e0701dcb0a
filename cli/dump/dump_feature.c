/* SPDX-License-Identifier: MIT */
#include "cli/dump/dump_feature.h"

#include "cli/dump/dump.h"

int ptc_dump_rows(struct ptc_emit *e, const struct ptc_dump_section *s, const char *name,
		  struct ptc_feature_iter *ret, struct ptc_err *err)
{
	int rc = ptc_feature_open(s->bit, s->c, s->off, ret, err);

	if (!rc)
		ptc_emit_rows(e, name);
	return rc;
}

static int show_string(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_cur c = s->c;
	const char *text;

	if (!ptc_feature_get_string(&c, &text))
		return ptc_feature_broken(s->bit, s->off, err);
	ptc_emit_text(e, "text", text);
	return 0;
}

int ptc_dump_strings(struct ptc_emit *e, const char *name, struct ptc_feature_iter it,
		     struct ptc_err *err)
{
	const char *text;
	int rc;

	ptc_emit_list(e, name);
	while ((rc = ptc_feature_next_string(&it, &text, err)) > 0)
		ptc_emit_text(e, NULL, text);
	if (!rc)
		ptc_emit_end(e);
	return rc;
}

static int show_cmdline(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	int rc = ptc_feature_open(s->bit, s->c, s->off, &it, err);

	return rc ? rc : ptc_dump_strings(e, "argv", it, err);
}

static int show_nrcpus(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_cur c = s->c;
	struct ptc_nrcpus n;

	if (!ptc_feature_get_nrcpus(&c, &n))
		return ptc_feature_broken(s->bit, s->off, err);
	ptc_emit_u64(e, "available", n.available);
	ptc_emit_u64(e, "online", n.online);
	return 0;
}

static int show_number(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_cur c = s->c;
	uint64_t v;

	if (!ptc_cur_le64(&c, &v))
		return ptc_feature_broken(s->bit, s->off, err);
	ptc_emit_u64(e,
		     s->bit == PTC_FEAT_TOTAL_MEM ? "kib" :
		     s->bit == PTC_FEAT_CLOCKID	  ? "resolution_ns" :
						    "version",
		     v);
	return 0;
}

static int show_sample_time(struct ptc_emit *e, const struct ptc_dump_section *s,
			    struct ptc_err *err)
{
	struct ptc_cur c = s->c;
	struct ptc_sample_time t;

	if (!ptc_feature_get_sample_time(&c, &t))
		return ptc_feature_broken(s->bit, s->off, err);
	ptc_emit_time(e, "first", t.first_ns);
	ptc_emit_time(e, "last", t.last_ns);
	return 0;
}

static int show_compressed(struct ptc_emit *e, const struct ptc_dump_section *s,
			   struct ptc_err *err)
{
	struct ptc_cur c = s->c;
	struct ptc_compressed v;

	if (!ptc_feature_get_compressed(&c, &v))
		return ptc_feature_broken(s->bit, s->off, err);
	ptc_emit_u64(e, "version", v.version);
	ptc_emit_u64(e, "type", v.type);
	ptc_emit_u64(e, "level", v.level);
	ptc_emit_u64(e, "ratio", v.ratio);
	ptc_emit_u64(e, "mmap_len", v.mmap_len);
	return 0;
}

static int show_clock_data(struct ptc_emit *e, const struct ptc_dump_section *s,
			   struct ptc_err *err)
{
	struct ptc_cur c = s->c;
	struct ptc_clock_data v;

	if (!ptc_feature_get_clock_data(&c, &v))
		return ptc_feature_broken(s->bit, s->off, err);
	ptc_emit_u64(e, "version", v.version);
	ptc_emit_u64(e, "clockid", v.clockid);
	ptc_emit_time(e, "wall", v.wall_ns);
	ptc_emit_time(e, "clock", v.clock_ns);
	return 0;
}

static int show_build_ids(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_build_id_entry b;
	struct ptc_cur c = s->c;
	int rc;

	ptc_emit_rows(e, "files");
	while ((rc = ptc_feature_next_build_id(&c, s->off, &b, err)) > 0) {
		char hex[2 * PTC_BUILD_ID_MAX + 1];

		ptc_build_id_hex(&b.id, hex);
		ptc_emit_row(e);
		ptc_emit_word(e, "id", hex);
		ptc_emit_i64(e, "pid", b.pid);
		ptc_emit_u64(e, "misc", b.misc);
		ptc_emit_text(e, "filename", b.filename);
		ptc_emit_end(e);
	}
	return rc;
}

static int show_event_desc(struct ptc_emit *e, const struct ptc_dump_section *s,
			   struct ptc_err *err)
{
	struct ptc_event_desc_entry d;
	struct ptc_event_desc_iter it;
	uint64_t id;
	int rc = ptc_feature_open_event_desc(s->c, s->off, &it, err);

	if (rc)
		return rc;
	ptc_emit_rows(e, "events");
	while ((rc = ptc_feature_next_event_desc(&it, &d, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_text(e, "name", d.name);
		ptc_emit_u64(e, "type", d.attr.type);
		ptc_emit_hex(e, "config", d.attr.config);
		ptc_emit_u64(e, "size", d.attr.size);
		ptc_emit_list(e, "ids");
		while (ptc_cur_le64(&d.ids, &id))
			ptc_emit_u64(e, NULL, id);
		ptc_emit_end(e);
		ptc_emit_end(e);
	}
	return rc;
}

/* --- events and PMUs --- */

static int show_pmus(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_pmu_mapping v;
	int rc = ptc_dump_rows(e, s, "pmus", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_pmu_mapping(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "type", v.type);
		ptc_emit_text(e, "name", v.name);
		ptc_emit_end(e);
	}
	return rc;
}

static int show_groups(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_group_desc v;
	int rc = ptc_dump_rows(e, s, "groups", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_group(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_text(e, "name", v.name);
		ptc_emit_u64(e, "leader", v.leader);
		ptc_emit_u64(e, "members", v.members);
		ptc_emit_end(e);
	}
	return rc;
}

static int show_index(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_auxtrace_entry v;
	int rc = ptc_dump_rows(e, s, "pieces", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_auxtrace(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_hex(e, "offset", v.off);
		ptc_emit_u64(e, "size", v.size);
		ptc_emit_end(e);
	}
	return rc;
}

static int show_cpu_caps(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_pmu_cap v;
	int rc = ptc_dump_rows(e, s, "caps", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_pmu_cap(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_text(e, "name", v.name);
		ptc_emit_text(e, "value", v.value);
		ptc_emit_end(e);
	}
	return rc;
}

static int show_caps(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_pmu_caps p;
	struct ptc_pmu_cap cap;
	int rc = ptc_dump_rows(e, s, "pmus", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_pmu_caps(&it, &p, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_text(e, "pmu", p.pmu);
		ptc_emit_rows(e, "caps");
		while (ptc_feature_next_pmu_cap(&p.caps, &cap, err) > 0) {
			ptc_emit_row(e);
			ptc_emit_text(e, "name", cap.name);
			ptc_emit_text(e, "value", cap.value);
			ptc_emit_end(e);
		}
		ptc_emit_end(e);
		ptc_emit_end(e);
	}
	return rc;
}

/* --- kernel metadata --- */

static void show_system(struct ptc_emit *e, struct ptc_trace_system *sys, struct ptc_err *err)
{
	struct ptc_cur blob;

	ptc_emit_row(e);
	ptc_emit_text(e, "name", sys->name);
	ptc_emit_list(e, "format_bytes");
	while (ptc_feature_next_blob(&sys->formats, &blob, err) > 0)
		ptc_emit_u64(e, NULL, ptc_cur_left(&blob));
	ptc_emit_end(e);
	ptc_emit_end(e);
}

static int show_tracing(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_tracing_data t;
	struct ptc_trace_system sys;
	struct ptc_cur blob;
	int rc = ptc_feature_parse_tracing_data(s->c, s->off, &t, err);

	if (rc)
		return rc;
	ptc_emit_text(e, "version", t.version);
	ptc_emit_u64(e, "long_size", t.long_size);
	ptc_emit_u64(e, "page_size", t.page_size);
	ptc_emit_u64(e, "header_page_bytes", ptc_cur_left(&t.header_page));
	ptc_emit_u64(e, "header_event_bytes", ptc_cur_left(&t.header_event));
	ptc_emit_u64(e, "kallsyms_bytes", ptc_cur_left(&t.kallsyms));
	ptc_emit_u64(e, "printk_bytes", ptc_cur_left(&t.printk));
	ptc_emit_u64(e, "cmdlines_bytes", ptc_cur_left(&t.cmdlines));
	ptc_emit_list(e, "ftrace_bytes");
	while (ptc_feature_next_blob(&t.ftrace, &blob, err) > 0)
		ptc_emit_u64(e, NULL, ptc_cur_left(&blob));
	ptc_emit_end(e);
	ptc_emit_rows(e, "systems");
	while (ptc_feature_next_trace_system(&t.systems, &sys, err) > 0)
		show_system(e, &sys, err);
	return 0;
}

static int show_progs(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_bpf_prog v;
	int rc = ptc_dump_rows(e, s, "programs", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_bpf_prog(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "id", v.id);
		ptc_emit_u64(e, "type", v.type);
		ptc_emit_bytes(e, "tag", ptc_cur_init(v.tag, sizeof(v.tag)));
		ptc_emit_text(e, "name", v.name);
		ptc_emit_u64(e, "jited_len", v.jited_len);
		ptc_emit_u64(e, "xlated_len", v.xlated_len);
		ptc_emit_time(e, "loaded", v.load_time_ns);
		ptc_emit_u64(e, "uid", v.uid);
		ptc_emit_hex(e, "arrays", v.arrays);
		ptc_emit_u64(e, "info_bytes", ptc_cur_left(&v.info));
		ptc_emit_u64(e, "data_bytes", ptc_cur_left(&v.data));
		ptc_emit_end(e);
	}
	return rc;
}

static int show_btfs(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_bpf_btf v;
	int rc = ptc_dump_rows(e, s, "types", &it, err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_bpf_btf(&it, &v, err)) > 0) {
		ptc_emit_row(e);
		ptc_emit_u64(e, "id", v.id);
		ptc_emit_u64(e, "data_bytes", ptc_cur_left(&v.data));
		ptc_emit_end(e);
	}
	return rc;
}

static ptc_dump_fn *const shows[] = {
	[PTC_FEAT_TRACING_DATA] = show_tracing,
	[PTC_FEAT_BUILD_ID] = show_build_ids,
	[PTC_FEAT_HOSTNAME] = show_string,
	[PTC_FEAT_OSRELEASE] = show_string,
	[PTC_FEAT_VERSION] = show_string,
	[PTC_FEAT_ARCH] = show_string,
	[PTC_FEAT_NRCPUS] = show_nrcpus,
	[PTC_FEAT_CPUDESC] = show_string,
	[PTC_FEAT_CPUID] = show_string,
	[PTC_FEAT_TOTAL_MEM] = show_number,
	[PTC_FEAT_CMDLINE] = show_cmdline,
	[PTC_FEAT_EVENT_DESC] = show_event_desc,
	[PTC_FEAT_CPU_TOPOLOGY] = ptc_dump_topology,
	[PTC_FEAT_NUMA_TOPOLOGY] = ptc_dump_numa,
	[PTC_FEAT_PMU_MAPPINGS] = show_pmus,
	[PTC_FEAT_GROUP_DESC] = show_groups,
	[PTC_FEAT_AUXTRACE] = show_index,
	[PTC_FEAT_CACHE] = ptc_dump_cache,
	[PTC_FEAT_SAMPLE_TIME] = show_sample_time,
	[PTC_FEAT_MEM_TOPOLOGY] = ptc_dump_mem_topology,
	[PTC_FEAT_CLOCKID] = show_number,
	[PTC_FEAT_DIR_FORMAT] = show_number,
	[PTC_FEAT_BPF_PROG_INFO] = show_progs,
	[PTC_FEAT_BPF_BTF] = show_btfs,
	[PTC_FEAT_COMPRESSED] = show_compressed,
	[PTC_FEAT_CPU_PMU_CAPS] = show_cpu_caps,
	[PTC_FEAT_CLOCK_DATA] = show_clock_data,
	[PTC_FEAT_HYBRID_TOPOLOGY] = ptc_dump_hybrid,
	[PTC_FEAT_PMU_CAPS] = show_caps,
	[PTC_FEAT_CPU_DOMAIN_INFO] = ptc_dump_domains,
};

int ptc_dump_feature(struct ptc_emit *e, enum ptc_feature bit, struct ptc_cur c, uint64_t off,
		     uint32_t ncpus, struct ptc_err *err)
{
	const struct ptc_dump_section s = { .c = c, .off = off, .ncpus = ncpus, .bit = bit };
	const unsigned int depth = e->depth;
	struct ptc_cur rest;
	int rc = 0;

	if (bit < sizeof(shows) / sizeof(shows[0]) && shows[bit])
		rc = shows[bit](e, &s, err);
	ptc_emit_unwind(e, depth);
	if (!rc)
		rc = ptc_feature_check(bit, c, off, ncpus, &rest, err);
	if (!rc && ptc_cur_left(&rest)) {
		ptc_emit_u64(e, "rest", ptc_cur_left(&rest));
		ptc_emit_bytes(e, "rest_bytes", rest);
	}
	return rc;
}
