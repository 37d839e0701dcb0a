/* SPDX-License-Identifier: MIT */
/* Print the fields of the records that perf makes. */
#include <stdio.h>
#include <string.h>

#include "cli/dump/dump.h"
#include "cli/dump/dump_emit.h"
#include "cli/dump/dump_event.h"
#include "ptcap/crash.h"
#include "ptcap/cutout.h"
#include "ptcap/file.h"
#include "ptcap/filecode.h"

static void emit_attr(struct ptc_emit *e, const struct ptc_user_attr *a)
{
	struct ptc_cur ids = a->ids;
	uint64_t id;

	ptc_dump_attr(e, &a->attr);
	ptc_emit_list(e, "ids");
	while (ptc_cur_le64(&ids, &id))
		ptc_emit_u64(e, NULL, id);
	ptc_emit_end(e);
}

static void emit_build_id(struct ptc_emit *e, const struct ptc_build_id_entry *b)
{
	char hex[2 * PTC_BUILD_ID_MAX + 1];

	ptc_build_id_hex(&b->id, hex);
	ptc_emit_i64(e, "pid", b->pid);
	ptc_emit_word(e, "build_id", hex);
	ptc_emit_text(e, "filename", b->filename);
}

static void emit_id_index(struct ptc_emit *e, struct ptc_user_id_index x)
{
	const bool guests = ptc_cur_left(&x.guests) != 0;
	struct ptc_id_index_entry i;

	ptc_emit_u64(e, "n", x.n);
	ptc_emit_entries(e, "entries");
	while (ptc_id_index_next(&x, &i)) {
		ptc_emit_entry(e);
		ptc_emit_u64(e, "id", i.id);
		ptc_emit_u64(e, "idx", i.idx);
		ptc_emit_i64(e, "cpu", i.cpu);
		ptc_emit_i64(e, "tid", i.tid);
		if (guests) {
			ptc_emit_i64(e, "machine_pid", i.machine_pid);
			ptc_emit_i64(e, "vcpu", i.vcpu);
		}
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_error(struct ptc_emit *e, const struct ptc_user_auxtrace_error *x)
{
	ptc_emit_u64(e, "type", x->type);
	ptc_emit_u64(e, "code", x->code);
	ptc_emit_i64(e, "cpu", x->cpu);
	ptc_emit_i64(e, "pid", x->pid);
	ptc_emit_i64(e, "tid", x->tid);
	ptc_emit_hex(e, "ip", x->ip);
	if (x->fmt)
		ptc_emit_time(e, "time", x->time);
	ptc_emit_text(e, "msg", x->msg);
	if (x->fmt < 2)
		return;
	ptc_emit_i64(e, "machine_pid", x->machine_pid);
	ptc_emit_i64(e, "vcpu", x->vcpu);
}

static void emit_thread_map(struct ptc_emit *e, struct ptc_user_thread_map m)
{
	struct ptc_thread_map_entry t;

	ptc_emit_u64(e, "n", m.n);
	ptc_emit_entries(e, "entries");
	while (ptc_thread_map_next(&m, &t)) {
		ptc_emit_entry(e);
		ptc_emit_i64(e, "tid", t.tid);
		ptc_emit_text(e, "comm", t.comm);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_cpu_map(struct ptc_emit *e, struct ptc_cpu_map m)
{
	static const char *const types[] = { "cpus", "mask", "range" };
	int32_t cpu;

	ptc_emit_word(e, "encoding", types[m.type]);
	ptc_emit_list(e, "cpus");
	while (ptc_cpu_map_next(&m, &cpu))
		ptc_emit_i64(e, NULL, cpu);
	ptc_emit_end(e);
}

static void emit_stat_config(struct ptc_emit *e, struct ptc_user_stat_config s)
{
	static const char *const tags[] = { "aggr_mode", "interval", "scale" };
	struct ptc_stat_config_entry t;

	ptc_emit_u64(e, "n", s.n);
	ptc_emit_entries(e, "entries");
	while (ptc_stat_config_next(&s, &t)) {
		ptc_emit_entry(e);
		if (t.tag < sizeof(tags) / sizeof(tags[0]))
			ptc_emit_word(e, "tag", tags[t.tag]);
		else
			ptc_emit_u64(e, "tag", t.tag);
		ptc_emit_u64(e, "val", t.val);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_stat(struct ptc_emit *e, const struct ptc_user_stat *s)
{
	ptc_emit_u64(e, "id", s->id);
	ptc_emit_i64(e, "cpu", s->cpu);
	ptc_emit_i64(e, "thread", s->thread);
	ptc_emit_u64(e, "val", s->val);
	ptc_emit_u64(e, "ena", s->ena);
	ptc_emit_u64(e, "run", s->run);
}

static void emit_update(struct ptc_emit *e, const struct ptc_user_event_update *x)
{
	char scale[32];

	ptc_emit_u64(e, "id", x->id);
	switch (x->type) {
	case PTC_UPDATE_UNIT:
		ptc_emit_text(e, "unit", x->text);
		break;
	case PTC_UPDATE_NAME:
		ptc_emit_text(e, "name", x->text);
		break;
	case PTC_UPDATE_SCALE:
		(void)snprintf(scale, sizeof(scale), "%.17g", x->scale);
		ptc_emit_word(e, "scale", scale);
		break;
	case PTC_UPDATE_CPUS:
		emit_cpu_map(e, x->cpus);
		break;
	default:
		ptc_emit_u64(e, "update", x->type);
		ptc_emit_bytes(e, "bytes", x->other);
		break;
	}
}

static void emit_time_conv(struct ptc_emit *e, const struct ptc_user_time_conv *t)
{
	ptc_emit_u64(e, "time_shift", t->shift);
	ptc_emit_u64(e, "time_mult", t->mult);
	ptc_emit_u64(e, "time_zero", t->zero);
	if (!t->is_long)
		return;
	ptc_emit_u64(e, "time_cycles", t->cycles);
	ptc_emit_hex(e, "time_mask", t->mask);
	ptc_emit_bool(e, "cap_user_time_zero", t->cap_user_time_zero);
	ptc_emit_bool(e, "cap_user_time_short", t->cap_user_time_short);
}

static void emit_bpf(struct ptc_emit *e, struct ptc_user_bpf_metadata m)
{
	struct ptc_bpf_metadata_entry b;

	ptc_emit_text(e, "prog", m.prog_name);
	ptc_emit_entries(e, "entries");
	while (ptc_bpf_metadata_next(&m, &b)) {
		ptc_emit_entry(e);
		ptc_emit_text(e, "key", b.key);
		ptc_emit_text(e, "value", b.value);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_schedstat(struct ptc_emit *e, struct ptc_schedstat s)
{
	const char *name;
	uint64_t v;

	ptc_emit_u64(e, "timestamp", s.time);
	ptc_emit_u64(e, "cpu", s.cpu);
	ptc_emit_u64(e, "version", s.version);
	if (s.of_domain)
		ptc_emit_u64(e, "domain", s.domain);
	while ((name = ptc_schedstat_next(&s, &v)))
		ptc_emit_u64(e, name, v);
	if (ptc_cur_left(&s.counters))
		ptc_emit_bytes(e, "bytes", s.counters);
}

static int emit_pt_info(struct ptc_emit *e, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_pt_info i;
	int rc = ptc_pt_info_parse(rec, &i, err);

	if (rc)
		return rc;
	ptc_emit_u64(e, "type", i.type);
	if (i.type == PTC_AUXTRACE_TYPE_INTEL_BTS)
		ptc_emit_word(e, "tracer", "intel_bts");
	if (i.type != PTC_AUXTRACE_TYPE_INTEL_PT)
		return 1;
	ptc_emit_word(e, "tracer", "intel_pt");
	ptc_emit_u64(e, "pmu_type", i.pmu_type);
	ptc_emit_u64(e, "time_shift", i.time.shift);
	ptc_emit_u64(e, "time_mult", i.time.mult);
	ptc_emit_u64(e, "time_zero", i.time.zero);
	ptc_emit_bool(e, "cap_user_time_zero", i.cap_user_time_zero);
	ptc_emit_hex(e, "tsc_bit", i.tsc_bit);
	ptc_emit_hex(e, "noretcomp_bit", i.noretcomp_bit);
	ptc_emit_u64(e, "have_sched_switch", i.have_sched_switch);
	ptc_emit_bool(e, "snapshot_mode", i.snapshot_mode);
	ptc_emit_bool(e, "per_cpu_mmaps", i.per_cpu_mmaps);
	ptc_emit_hex(e, "mtc_bit", i.mtc_bit);
	ptc_emit_hex(e, "mtc_freq_bits", i.mtc_freq_bits);
	ptc_emit_u64(e, "tsc_ctc_n", i.tsc_ctc_n);
	ptc_emit_u64(e, "tsc_ctc_d", i.tsc_ctc_d);
	ptc_emit_hex(e, "cyc_bit", i.cyc_bit);
	ptc_emit_u64(e, "max_nonturbo_ratio", i.max_nonturbo_ratio);
	ptc_emit_bool(e, "event_trace", i.cap_event_trace);
	ptc_emit_text(e, "filter", i.filter);
	return 1;
}

/* Also checks that the payload is inside the file. */
static int emit_auxtrace(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
			 struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_cur bytes;
	int rc = ptc_file_auxtrace(f, rec, &a, &bytes, err);

	if (rc)
		return rc;
	ptc_emit_hex(e, "size", a.size);
	ptc_emit_hex(e, "offset", a.offset);
	ptc_emit_hex(e, "reference", a.reference);
	ptc_emit_u64(e, "idx", a.idx);
	ptc_emit_i64(e, "tid", a.tid);
	ptc_emit_i64(e, "cpu", a.cpu);
	return 1;
}

static void emit_stream(struct ptc_emit *e, const struct ptc_user *u)
{
	switch (u->type) {
	case PTC_REC_HEADER_ATTR:
		emit_attr(e, &u->u.attr);
		break;
	case PTC_REC_HEADER_EVENT_TYPE:
		ptc_emit_u64(e, "event_id", u->u.event_type.event_id);
		ptc_emit_text(e, "name", u->u.event_type.name);
		break;
	case PTC_REC_HEADER_TRACING_DATA:
		ptc_emit_u64(e, "size", u->u.tracing_data.size);
		break;
	case PTC_REC_HEADER_BUILD_ID:
		emit_build_id(e, &u->u.build_id);
		break;
	case PTC_REC_ID_INDEX:
		emit_id_index(e, u->u.id_index);
		break;
	case PTC_REC_EVENT_UPDATE:
		emit_update(e, &u->u.event_update);
		break;
	case PTC_REC_TIME_CONV:
		emit_time_conv(e, &u->u.time_conv);
		break;
	case PTC_REC_HEADER_FEATURE:
		if (u->u.feature.id < PTC_FEATURE_BITS &&
		    ptc_feature_name((unsigned int)u->u.feature.id))
			ptc_emit_word(e, "feature",
				      ptc_feature_name((unsigned int)u->u.feature.id));
		else
			ptc_emit_u64(e, "feature", u->u.feature.id);
		ptc_emit_u64(e, "bytes", ptc_cur_left(&u->u.feature.data));
		break;
	case PTC_REC_COMPRESSED:
	case PTC_REC_COMPRESSED2:
		ptc_emit_u64(e, "bytes", ptc_cur_left(&u->u.compressed.data));
		break;
	default: /* FINISHED_ROUND, FINISHED_INIT */
		break;
	}
}

static void emit_user(struct ptc_emit *e, const struct ptc_user *u)
{
	switch (u->type) {
	case PTC_REC_AUXTRACE_ERROR:
		emit_error(e, &u->u.auxtrace_error);
		break;
	case PTC_REC_THREAD_MAP:
		emit_thread_map(e, u->u.thread_map);
		break;
	case PTC_REC_CPU_MAP:
		emit_cpu_map(e, u->u.cpu_map);
		break;
	case PTC_REC_STAT_CONFIG:
		emit_stat_config(e, u->u.stat_config);
		break;
	case PTC_REC_STAT:
		emit_stat(e, &u->u.stat);
		break;
	case PTC_REC_STAT_ROUND:
		ptc_emit_word(e, "round", u->u.stat_round.type ? "final" : "interval");
		ptc_emit_time(e, "time", u->u.stat_round.time);
		break;
	case PTC_REC_BPF_METADATA:
		emit_bpf(e, u->u.bpf_metadata);
		break;
	case PTC_REC_SCHEDSTAT_CPU:
	case PTC_REC_SCHEDSTAT_DOMAIN:
		emit_schedstat(e, u->u.schedstat);
		break;
	default:
		emit_stream(e, u);
		break;
	}
}

static void emit_field(struct ptc_emit *e, const struct ptc_ledger_field *f)
{
	if (f->is_signed)
		ptc_emit_i64(e, f->name, (int64_t)f->value);
	else
		ptc_emit_u64(e, f->name, f->value);
}

static int emit_ledger(struct ptc_emit *e, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_ledger_processor processor;
	struct ptc_ledger_source source;
	struct ptc_ledger_clock clock;
	struct ptc_ledger_event event;
	struct ptc_ledger_field f;
	struct ptc_ledger_ring r;
	struct ptc_ledger l;
	size_t i;
	int rc = ptc_ledger_parse(rec, &l, err);

	if (rc <= 0)
		return rc;
	ptc_emit_entries(e, "entries");
	while (ptc_ledger_next_ring(&l, &r)) {
		ptc_emit_entry(e);
		for (i = 0; ptc_ledger_ring_field(&r, i, &f); i++)
			emit_field(e, &f);
		ptc_emit_end(e);
	}
	while (ptc_ledger_next_event(&l, &event)) {
		ptc_emit_entry(e);
		for (i = 0; ptc_ledger_event_field(&event, i, &f); i++)
			emit_field(e, &f);
		ptc_emit_end(e);
	}
	while (ptc_ledger_next_clock(&l, &clock)) {
		ptc_emit_entry(e);
		for (i = 0; ptc_ledger_clock_field(&clock, i, &f); i++)
			emit_field(e, &f);
		ptc_emit_end(e);
	}
	while (ptc_ledger_next_source(&l, &source)) {
		ptc_emit_entry(e);
		for (i = 0; ptc_ledger_source_field(&source, i, &f); i++)
			emit_field(e, &f);
		ptc_emit_end(e);
	}
	while (ptc_ledger_next_processor(&l, &processor)) {
		ptc_emit_entry(e);
		for (i = 0; ptc_ledger_processor_field(&processor, i, &f); i++)
			emit_field(e, &f);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
	return 1;
}

static bool is_address(const struct ptc_ledger_field *f)
{
	static const char *const plain[] = { "pid",    "tid",	  "signal", "code",    "error",
					     "sender", "in_call", "prot",   "time_ns", "cut" };
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(f->name, plain[i]))
			return false;
	return true;
}

static int emit_crash(struct ptc_emit *e, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_ledger_field f;
	struct ptc_crash c;
	size_t i;
	const int rc = ptc_crash_parse(rec, &c, err);

	if (rc <= 0)
		return rc;
	for (i = 0; ptc_crash_field(&c, i, &f); i++) {
		if (is_address(&f))
			ptc_emit_hex(e, f.name, f.value);
		else
			emit_field(e, &f);
	}
	ptc_emit_u64(e, "len", ptc_cur_left(&c.bytes));
	ptc_emit_bytes(e, "bytes", c.bytes);
	return 1;
}

static int emit_filecode(struct ptc_emit *e, const struct ptc_rec *rec, struct ptc_err *err)
{
	char id[2 * PTC_BUILD_ID_MAX + 1];
	struct ptc_filecode c;
	const int rc = ptc_filecode_parse(rec, &c, err);

	if (rc <= 0)
		return rc;
	ptc_emit_text(e, "filename", c.name);
	ptc_emit_u64(e, "maj", c.maj);
	ptc_emit_u64(e, "min", c.min);
	ptc_emit_u64(e, "ino", c.ino);
	ptc_build_id_hex(&c.id, id);
	ptc_emit_text(e, "build_id", c.id.len ? id : NULL);
	ptc_emit_u64(e, "size", c.size);
	ptc_emit_hex(e, "offset", c.off);
	ptc_emit_u64(e, "len", ptc_cur_left(&c.bytes));
	ptc_emit_bytes(e, "bytes", c.bytes);
	return 1;
}

static int emit_cutout(struct ptc_emit *e, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cutout_record r;
	struct ptc_cutout_queue q;
	const int rc = ptc_cutout_parse(rec, &r, err);

	if (rc <= 0)
		return rc;
	ptc_emit_u64(e, "shard", r.head.i);
	ptc_emit_u64(e, "shards", r.head.n);
	if (r.head.timed) {
		ptc_emit_u64(e, "from_ns", r.head.from_ns);
		ptc_emit_u64(e, "to_ns", r.head.to_ns);
	}
	ptc_emit_list(e, "queues");
	while (ptc_cutout_next(&r, &q)) {
		ptc_emit_object(e, NULL);
		ptc_emit_u64(e, "idx", q.idx);
		ptc_emit_hex(e, "from_arm", q.from_arm);
		ptc_emit_hex(e, "from_at", q.from_at);
		ptc_emit_hex(e, "to_arm", q.to_arm);
		ptc_emit_hex(e, "to_at", q.to_at);
		ptc_emit_hex(e, "keep_from", q.keep_from);
		ptc_emit_hex(e, "keep_to", q.keep_to);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
	return 1;
}

int ptc_dump_user(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		  struct ptc_err *err)
{
	struct ptc_user u;
	int rc;

	if (rec->type == PTC_REC_AUXTRACE_INFO)
		return emit_pt_info(e, rec, err);
	if (rec->type == PTC_REC_AUXTRACE)
		return emit_auxtrace(e, f, rec, err);
	rc = ptc_user_parse(rec, &u, err);
	if (rc == 1)
		emit_user(e, &u);
	if (rc == 1 && rec->type == PTC_REC_HEADER_EVENT_TYPE &&
	    (emit_ledger(e, rec, err) < 0 || emit_crash(e, rec, err) < 0 ||
	     emit_filecode(e, rec, err) < 0 || emit_cutout(e, rec, err) < 0))
		rc = err->code;
	return rc;
}
