/* SPDX-License-Identifier: MIT */
#include "cli/info/info.h"

#include "ptcap/file.h"

static const char *get_string(const struct ptc_file *f, unsigned int bit)
{
	const char *text;
	struct ptc_cur c;

	if (!ptc_file_feature(f, bit, &c, NULL) || !ptc_feature_get_string(&c, &text) || !*text)
		return NULL;
	return text;
}

static void gather_topology(const struct ptc_file *f, struct ptc_info *i)
{
	struct ptc_cpu_topology t;
	struct ptc_err ignored;
	struct ptc_cur c;
	uint64_t off;

	if (ptc_file_feature(f, PTC_FEAT_CPU_TOPOLOGY, &c, &off) &&
	    !ptc_feature_parse_cpu_topology(c, off, i->cpus.available, &t, &ignored)) {
		i->packages = (uint32_t)t.packages.left;
		i->cores = (uint32_t)t.threads.left;
	}
	if (ptc_file_feature(f, PTC_FEAT_NUMA_TOPOLOGY, &c, NULL))
		(void)ptc_cur_le32(&c, &i->numa_nodes);
}

static void gather_features(const struct ptc_file *f, struct ptc_info *i)
{
	struct ptc_cur c;

	i->hostname = get_string(f, PTC_FEAT_HOSTNAME);
	i->osrelease = get_string(f, PTC_FEAT_OSRELEASE);
	i->version = get_string(f, PTC_FEAT_VERSION);
	i->arch = get_string(f, PTC_FEAT_ARCH);
	i->cpudesc = get_string(f, PTC_FEAT_CPUDESC);
	i->cpuid = get_string(f, PTC_FEAT_CPUID);
	if (ptc_file_feature(f, PTC_FEAT_NRCPUS, &c, NULL))
		(void)ptc_feature_get_nrcpus(&c, &i->cpus);
	if (ptc_file_feature(f, PTC_FEAT_TOTAL_MEM, &c, NULL))
		(void)ptc_feature_get_total_mem(&c, &i->total_mem_kib);
	if (ptc_file_feature(f, PTC_FEAT_COMPRESSED, &c, NULL))
		i->has_compressed = ptc_feature_get_compressed(&c, &i->compressed);
	if (ptc_file_feature(f, PTC_FEAT_CLOCK_DATA, &c, NULL))
		i->has_clock = ptc_feature_get_clock_data(&c, &i->clock);
	ptc_recorded_cpu_header(&i->cpu, f);
	gather_topology(f, i);
}

static void extend_time_range(struct ptc_info *i, const struct ptc_sample_id *id)
{
	/* Synthesized records at the start have time 0. */
	if (!(id->has & PERF_SAMPLE_TIME) || !id->time)
		return;
	if (!i->first_ns || id->time < i->first_ns)
		i->first_ns = id->time;
	if (id->time > i->last_ns)
		i->last_ns = id->time;
}

static int gather_sideband(const struct ptc_rec *rec, struct ptc_info *i, struct ptc_err *err)
{
	struct ptc_sb sb;
	int rc = ptc_sb_parse(rec, ptc_file_trailer_type(i->file, rec), &sb, err);

	if (rc < 0)
		return ptc_file_err_name(i->file, err);
	if (!rc)
		return 0;
	extend_time_range(i, &sb.id);
	if (sb.type == PERF_RECORD_LOST || sb.type == PERF_RECORD_LOST_SAMPLES)
		i->lost_events += sb.u.lost.lost;
	if (sb.type == PERF_RECORD_TEXT_POKE &&
	    (sb.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
		i->code_bytes += ptc_cur_left(&sb.u.poke.new_bytes);
	if (sb.type == PERF_RECORD_AUX) {
		i->truncated += (sb.u.aux.flags & PERF_AUX_FLAG_TRUNCATED) != 0;
		i->partial += (sb.u.aux.flags & PERF_AUX_FLAG_PARTIAL) != 0;
		i->collision += (sb.u.aux.flags & PERF_AUX_FLAG_COLLISION) != 0;
	}
	return 0;
}

static void gather_sample(const struct ptc_rec *rec, struct ptc_info *i)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(i->file, rec);
	struct ptc_cur body = rec->body;
	struct ptc_sample s;

	if (a && ptc_sample_parse_front(&body, a->attr.sample_type, &s))
		extend_time_range(i, &s.id);
}

static int gather_crash(const struct ptc_rec *rec, struct ptc_info *i, struct ptc_err *err)
{
	struct ptc_crash c;
	const int rc = ptc_crash_parse(rec, &c, err);

	if (rc == 1 && c.kind == PTC_CRASH_SIGNAL) {
		i->of_crash = c.u.signal.signo != 0;
		i->states += !i->of_crash;
	}
	if (rc != 1 || !i->of_crash)
		return rc < 0 ? rc : 0;
	if (c.kind == PTC_CRASH_SIGNAL) {
		i->crashes++;
		i->crash = c.u.signal;
		i->crash_cut = 0;
	}
	if (c.kind == PTC_CRASH_MEMORY &&
	    __builtin_add_overflow(i->crash_cut, c.u.memory.cut, &i->crash_cut))
		i->crash_cut = UINT64_MAX;
	return 0;
}

static int gather_record(const struct ptc_rec *rec, struct ptc_info *i, struct ptc_err *err)
{
	i->records++;
	if (rec->type < PTC_INFO_TYPES && ptc_rec_name(rec->type))
		i->by_type[rec->type]++;
	else
		i->unknown++;
	switch (rec->type) {
	case PTC_REC_AUXTRACE_INFO:
		if (ptc_pt_info_parse(rec, &i->pt, err))
			return ptc_file_err_name(i->file, err);
		i->has_pt = i->pt.type == PTC_AUXTRACE_TYPE_INTEL_PT;
		return 0;
	case PTC_REC_HEADER_EVENT_TYPE:
		ptc_recorded_cpu_add(&i->cpu, rec);
		if (ptc_ledger_list_add(&i->ledger, rec, err) || gather_crash(rec, i, err))
			return ptc_file_err_name(i->file, err);
		return 0;
	case PERF_RECORD_SAMPLE:
		gather_sample(rec, i);
		return 0;
	case PTC_REC_AUXTRACE:
		return ptc_index_add(&i->index, i->file, rec, err);
	default:
		return gather_sideband(rec, i, err);
	}
}

int ptc_info_gather(const struct ptc_file *f, struct ptc_info *ret, struct ptc_err *err)
{
	struct ptc_rec rec;
	struct ptc_cur c;
	uint64_t pos = 0;
	int rc;

	ret->file = f;
	ret->index = (struct ptc_index)PTC_INDEX_INIT;
	gather_features(f, ret);
	while ((rc = ptc_file_next(f, &pos, &rec, err)) > 0)
		if (gather_record(&rec, ret, err))
			return err->code;
	ptc_index_sort(&ret->index);
	if (!rc && ptc_file_feature(f, PTC_FEAT_SAMPLE_TIME, &c, NULL)) {
		struct ptc_sample_time t;

		if (ptc_feature_get_sample_time(&c, &t) && t.first_ns && t.first_ns <= t.last_ns) {
			ret->first_ns = t.first_ns;
			ret->last_ns = t.last_ns;
		}
	}
	return rc;
}

void ptc_info_survey(const char *path, struct ptc_info *i)
{
	struct ptc_code_opts code = PTC_CODE_OPTS_INIT;
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;

	if (!i->has_pt)
		return;
	code.look_only = true;
	opts.code = &code;
	if (!ptc_decode_open(path, &opts, &i->survey, &i->survey_err) &&
	    !ptc_decode_survey(i->survey, &i->files, &i->survey_err))
		return;
	ptc_decode_free(i->survey);
	i->survey = NULL;
}

static uint64_t trace_bytes(const struct ptc_info *i)
{
	uint64_t sum = 0;
	size_t q, c;

	for (q = 0; q < i->index.nqueues; q++)
		for (c = 0; c < i->index.queues[q].nchunks; c++)
			sum += i->index.queues[q].chunks[c].size;
	return sum;
}

void ptc_info_judge(const char *path, struct ptc_info *i)
{
	struct ptc_err ignored; /* the survey reports it */

	if (i->survey && i->pt.snapshot_mode && trace_bytes(i) <= PTC_INFO_JUDGED)
		i->has_verdict = !ptc_verdict_make(&i->verdict, path, &ignored);
}

const char *ptc_info_next_note(const struct ptc_info *info, size_t *i)
{
	static const char missing[] = "no code for ";
	const char *note;

	/* ptc_decode_missing reports missing files. */
	do
		note = info->survey ? ptc_decode_note(info->survey, (*i)++) : NULL;
	while (note && !strncmp(note, missing, sizeof(missing) - 1));
	return note;
}

void ptc_info_release(struct ptc_info *info)
{
	ptc_verdict_release(&info->verdict);
	ptc_decode_free(info->survey);
	ptc_index_release(&info->index);
	ptc_ledger_list_release(&info->ledger);
}

struct ptc_feature_iter ptc_info_list(const struct ptc_info *info, enum ptc_feature bit)
{
	struct ptc_feature_iter it = { .left = 0 };
	struct ptc_err ignored;
	struct ptc_cur c;
	uint64_t off;

	if (ptc_file_feature(info->file, bit, &c, &off))
		(void)ptc_feature_open(bit, c, off, &it, &ignored);
	return it;
}

const char *ptc_info_pmu_name(const struct ptc_info *info, uint32_t type)
{
	struct ptc_feature_iter it = ptc_info_list(info, PTC_FEAT_PMU_MAPPINGS);
	struct ptc_pmu_mapping m;
	struct ptc_err ignored;

	while (ptc_feature_next_pmu_mapping(&it, &m, &ignored) > 0)
		if (m.type == type)
			return m.name;
	return NULL;
}

const char *ptc_info_event_name(const struct ptc_info *info, size_t i)
{
	const struct ptc_file_attr *a = ptc_file_attr(info->file, i);
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t off;
	uint64_t id;

	/* The entries need not be in the order of the attrs, so compare the first id. */
	if (!ptc_file_feature(info->file, PTC_FEAT_EVENT_DESC, &c, &off) ||
	    ptc_feature_open_event_desc(c, off, &it, &err))
		return a->name;
	while (ptc_feature_next_event_desc(&it, &e, &err) > 0)
		if (a->nids && ptc_cur_le64(&e.ids, &id) && id == a->ids[0])
			return e.name;
	return a->name;
}
