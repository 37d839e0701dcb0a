/* SPDX-License-Identifier: MIT */
#include "userrec_layout.h"

#include <criterion/criterion.h>
#include <string.h>

#include "auxtrace/record/ledger.h"

void ul_text(struct ptc_buf *b, const char *s, size_t size)
{
	ptc_buf_put(b, s, strlen(s));
	ptc_buf_zero(b, size - strlen(s));
}

static void words(struct ptc_buf *b, uint64_t first, size_t n)
{
	while (n--)
		ptc_buf_le64(b, first++);
}

size_t ul_lay_attr(struct ptc_buf *b)
{
	const struct perf_event_attr attr = { .type = 9, .config = 7, .sig_data = 5 };

	ptc_attr_put(b, &attr, PERF_ATTR_SIZE_VER7);
	words(b, 100, 3);
	return 24; /* fewer ids are valid */
}

static void check_attr(struct ptc_user *u)
{
	cr_assert(u->u.attr.attr.type == 9 && u->u.attr.attr.config == 7 &&
		  u->u.attr.attr.sig_data == 5 && !u->u.attr.unknown_bytes);
	cr_assert_eq(u->u.attr.attr.size, PERF_ATTR_SIZE_VER7);
	cr_assert_eq(ptc_cur_left(&u->u.attr.ids), 24);
	cr_assert_eq(ptc_le64(u->u.attr.ids.pos + 16), 102);
}

static size_t lay_attr_old(struct ptc_buf *b)
{
	const struct perf_event_attr attr = { .type = 1 };

	ptc_attr_put(b, &attr, PERF_ATTR_SIZE_VER0);
	words(b, 100, 1);
	return 8;
}

static void check_attr_old(struct ptc_user *u)
{
	cr_assert_eq(u->u.attr.attr.size, PERF_ATTR_SIZE_VER0);
	cr_assert_eq(ptc_cur_left(&u->u.attr.ids), 8);
}

size_t ul_lay_event_type(struct ptc_buf *b)
{
	ptc_buf_le64(b, 3);
	ul_text(b, "cycles", 64);
	return 0;
}

static void check_event_type(struct ptc_user *u)
{
	cr_assert_eq(u->u.event_type.event_id, 3);
	cr_assert_str_eq(u->u.event_type.name, "cycles");
}

static size_t lay_ledger(struct ptc_buf *b)
{
	ptc_buf_le64(b, PTC_LEDGER_ID);
	ul_text(b, "ptcap ledger", 64);
	ptc_buf_le64(b, 5);
	return 8; /* ptc_ledger_parse reads them */
}

static void check_ledger(struct ptc_user *u)
{
	cr_assert_eq(u->u.event_type.event_id, PTC_LEDGER_ID);
	cr_assert_eq(ptc_cur_left(&u->u.event_type.more), 8);
}

static size_t lay_tracing_data(struct ptc_buf *b)
{
	ptc_buf_le32(b, 4096);
	ptc_buf_zero(b, 4);
	return 4;
}

static void check_tracing_data(struct ptc_user *u)
{
	cr_assert_eq(u->u.tracing_data.size, 4096);
}

size_t ul_lay_build_id(struct ptc_buf *b)
{
	ptc_buf_le32(b, UINT32_MAX);
	ul_text(b, "0123456789abcdef", 20);
	ptc_buf_u8(b, 16);
	ptc_buf_zero(b, 3);
	ul_text(b, "/bin/x", 12);
	return 5;
}

static void check_build_id(struct ptc_user *u)
{
	cr_assert(u->u.build_id.pid == -1 && u->u.build_id.id.len == 16);
	cr_assert_eq(memcmp(u->u.build_id.id.bytes, "0123456789abcdef", 16), 0);
	cr_assert_str_eq(u->u.build_id.filename, "/bin/x");
	cr_assert_eq(u->u.build_id.misc, PERF_RECORD_MISC_USER);
}

static size_t lay_nothing(struct ptc_buf *b)
{
	(void)b;
	return 0;
}

static void check_nothing(struct ptc_user *u)
{
	(void)u;
}

static size_t lay_id_index(struct ptc_buf *b)
{
	ptc_buf_le64(b, 2);
	words(b, 1, 4);
	ptc_buf_le64(b, 5);
	ptc_buf_le64(b, 6);
	ptc_buf_le64(b, UINT64_MAX);
	ptc_buf_le64(b, UINT64_MAX);
	return 0;
}

static void check_id_index(struct ptc_user *u)
{
	struct ptc_user_id_index x = u->u.id_index;
	struct ptc_id_index_entry e;

	cr_assert_eq(x.n, 2);
	cr_assert(ptc_id_index_next(&x, &e));
	cr_assert(e.id == 1 && e.idx == 2 && e.cpu == 3 && e.tid == 4);
	cr_assert(ptc_id_index_next(&x, &e));
	cr_assert(e.id == 5 && e.idx == 6 && e.cpu == -1 && e.tid == -1 && e.machine_pid == 0);
	cr_assert(!ptc_id_index_next(&x, &e) && x.n == 0);
}

size_t ul_lay_id_index_guests(struct ptc_buf *b)
{
	(void)lay_id_index(b);
	words(b, 30, 4);
	return 32; /* known by the size */
}

static void check_id_index_guests(struct ptc_user *u)
{
	struct ptc_user_id_index x = u->u.id_index;
	struct ptc_id_index_entry e;

	cr_assert(ptc_id_index_next(&x, &e) && e.machine_pid == 30 && e.vcpu == 31);
	cr_assert(ptc_id_index_next(&x, &e) && e.machine_pid == 32 && e.vcpu == 33);
	cr_assert(!ptc_id_index_next(&x, &e));
}

static size_t lay_auxtrace_info(struct ptc_buf *b)
{
	ptc_buf_le32(b, 2);
	ptc_buf_le32(b, 0);
	words(b, 1, 3);
	return 24;
}

static void check_auxtrace_info(struct ptc_user *u)
{
	cr_assert_eq(u->u.auxtrace_info.type, PTC_AUXTRACE_TYPE_INTEL_BTS);
	cr_assert_eq(ptc_cur_left(&u->u.auxtrace_info.words), 24);
}

static size_t lay_auxtrace(struct ptc_buf *b)
{
	words(b, UINT64_C(1) << 40, 3);
	ptc_buf_le32(b, 4);
	ptc_buf_le32(b, 5);
	ptc_buf_le32(b, UINT32_MAX);
	ptc_buf_le32(b, 0);
	return 4;
}

static void check_auxtrace(struct ptc_user *u)
{
	cr_assert(u->u.auxtrace.size == UINT64_C(1) << 40 && u->u.auxtrace.idx == 4 &&
		  u->u.auxtrace.tid == 5 && u->u.auxtrace.cpu == -1);
}

static void lay_error(struct ptc_buf *b, uint32_t fmt)
{
	uint32_t i;

	for (i = 1; i < 6; i++)
		ptc_buf_le32(b, i);
	ptc_buf_le32(b, fmt);
	ptc_buf_le64(b, 6);
	if (fmt)
		ptc_buf_le64(b, 7);
	ul_text(b, "lost", fmt > 1 ? 64 : 8);
	if (fmt > 1) {
		ptc_buf_le32(b, 8);
		ptc_buf_le32(b, 9);
	}
}

static size_t lay_error0(struct ptc_buf *b)
{
	lay_error(b, 0);
	return 3;
}

static size_t lay_error1(struct ptc_buf *b)
{
	lay_error(b, 1);
	return 3;
}

size_t ul_lay_error2(struct ptc_buf *b)
{
	lay_error(b, 2);
	return 0;
}

static void check_error(struct ptc_user *u)
{
	const struct ptc_user_auxtrace_error *e = &u->u.auxtrace_error;

	cr_assert(e->type == 1 && e->code == 2 && e->cpu == 3 && e->pid == 4 && e->tid == 5 &&
		  e->ip == 6);
	cr_assert_eq(e->time, e->fmt ? 7 : 0);
	cr_assert_str_eq(e->msg, "lost");
	cr_assert_eq(e->machine_pid, e->fmt == 2 ? 8 : 0);
	cr_assert_eq(e->vcpu, e->fmt == 2 ? 9 : 0);
}

static size_t lay_thread_map(struct ptc_buf *b)
{
	ptc_buf_le64(b, 2);
	ptc_buf_le64(b, 77);
	ul_text(b, "a", 16);
	ptc_buf_le64(b, UINT64_MAX);
	ul_text(b, "sixteen letters!", 16);
	return 0;
}

static void check_thread_map(struct ptc_user *u)
{
	struct ptc_user_thread_map m = u->u.thread_map;
	struct ptc_thread_map_entry e;

	cr_assert(ptc_thread_map_next(&m, &e) && e.tid == 77);
	cr_assert_str_eq(e.comm, "a");
	cr_assert(ptc_thread_map_next(&m, &e) && e.tid == -1);
	cr_assert_str_eq(e.comm, "sixteen letters!");
	cr_assert(!ptc_thread_map_next(&m, &e));
}

static size_t lay_cpu_map(struct ptc_buf *b)
{
	ptc_buf_le16(b, PTC_CPU_MAP_CPUS);
	ptc_buf_le16(b, 2);
	ptc_buf_le16(b, 1);
	ptc_buf_le16(b, 3);
	return 0;
}

static void check_cpu_map(struct ptc_user *u)
{
	struct ptc_cpu_map m = u->u.cpu_map;
	int32_t cpu;

	cr_assert(ptc_cpu_map_next(&m, &cpu) && cpu == 1);
	cr_assert(ptc_cpu_map_next(&m, &cpu) && cpu == 3);
	cr_assert(!ptc_cpu_map_next(&m, &cpu));
}

static size_t lay_stat_config(struct ptc_buf *b)
{
	ptc_buf_le64(b, 2);
	words(b, 0, 4);
	return 0;
}

static void check_stat_config(struct ptc_user *u)
{
	struct ptc_user_stat_config s = u->u.stat_config;
	struct ptc_stat_config_entry e;

	cr_assert(ptc_stat_config_next(&s, &e) && e.tag == PTC_STAT_AGGR_MODE && e.val == 1);
	cr_assert(ptc_stat_config_next(&s, &e) && e.tag == PTC_STAT_SCALE && e.val == 3);
	cr_assert(!ptc_stat_config_next(&s, &e));
}

static size_t lay_stat(struct ptc_buf *b)
{
	ptc_buf_le64(b, 1);
	ptc_buf_le32(b, UINT32_MAX);
	ptc_buf_le32(b, 2);
	words(b, 3, 3);
	return 0;
}

static void check_stat(struct ptc_user *u)
{
	const struct ptc_user_stat *s = &u->u.stat;

	cr_assert(s->id == 1 && s->cpu == -1 && s->thread == 2 && s->val == 3 && s->ena == 4 &&
		  s->run == 5);
}

static size_t lay_stat_round(struct ptc_buf *b)
{
	words(b, 1, 2);
	return 0;
}

static void check_stat_round(struct ptc_user *u)
{
	cr_assert(u->u.stat_round.type == 1 && u->u.stat_round.time == 2);
}

size_t ul_lay_unit(struct ptc_buf *b)
{
	words(b, PTC_UPDATE_UNIT, 1);
	words(b, 5, 1);
	ul_text(b, "Joules", 8);
	return 1;
}

static void check_unit(struct ptc_user *u)
{
	cr_assert_eq(u->u.event_update.id, 5);
	cr_assert_str_eq(u->u.event_update.text, "Joules");
}

static size_t lay_scale(struct ptc_buf *b)
{
	words(b, PTC_UPDATE_SCALE, 1);
	words(b, 5, 1);
	ptc_buf_le64(b, UINT64_C(0x3fe0000000000000));
	return 0;
}

static void check_scale(struct ptc_user *u)
{
	cr_assert(u->u.event_update.scale == 0.5);
}

static size_t lay_update_cpus(struct ptc_buf *b)
{
	words(b, PTC_UPDATE_CPUS, 1);
	words(b, 5, 1);
	return lay_cpu_map(b);
}

static void check_update_cpus(struct ptc_user *u)
{
	struct ptc_user map = { .u.cpu_map = u->u.event_update.cpus };

	check_cpu_map(&map);
}

static size_t lay_update_new(struct ptc_buf *b)
{
	words(b, 77, 3);
	return 8;
}

static void check_update_new(struct ptc_user *u)
{
	cr_assert(u->u.event_update.type == 77 && ptc_cur_left(&u->u.event_update.other) == 8);
}

static size_t lay_conv_short(struct ptc_buf *b)
{
	words(b, 31, 3);
	return 0;
}

static void check_conv_short(struct ptc_user *u)
{
	const struct ptc_user_time_conv *t = &u->u.time_conv;

	cr_assert(t->shift == 31 && t->mult == 32 && t->zero == 33 && !t->is_long);
}

size_t ul_lay_conv(struct ptc_buf *b)
{
	words(b, 31, 5);
	ptc_buf_u8(b, 1);
	ptc_buf_u8(b, 0);
	ptc_buf_zero(b, 6);
	return 6;
}

static void check_conv(struct ptc_user *u)
{
	const struct ptc_user_time_conv *t = &u->u.time_conv;

	cr_assert(t->shift == 31 && t->zero == 33 && t->is_long && t->cycles == 34 &&
		  t->mask == 35 && t->cap_user_time_zero && !t->cap_user_time_short);
}

static size_t lay_feature(struct ptc_buf *b)
{
	ptc_buf_le64(b, PTC_FEAT_HOSTNAME);
	ul_text(b, "not a multiple", 14);
	return 14;
}

static void check_feature(struct ptc_user *u)
{
	cr_assert(u->u.feature.id == PTC_FEAT_HOSTNAME && ptc_cur_left(&u->u.feature.data) == 14);
}

static size_t lay_compressed(struct ptc_buf *b)
{
	ul_text(b, "seven b", 7);
	return 7;
}

static void check_compressed(struct ptc_user *u)
{
	cr_assert_eq(ptc_cur_left(&u->u.compressed.data), 7);
	cr_assert_eq(memcmp(u->u.compressed.data.pos, "seven b", 7), 0);
}

static size_t lay_compressed2(struct ptc_buf *b)
{
	ptc_buf_le64(b, 7);
	ul_text(b, "seven b", 8);
	return 1;
}

size_t ul_lay_bpf(struct ptc_buf *b)
{
	ul_text(b, "prog", 512);
	ptc_buf_le64(b, 2);
	ul_text(b, "version", 64);
	ul_text(b, "1.2", 256);
	ul_text(b, "who", 64);
	ul_text(b, "me", 256);
	return 0;
}

static void check_bpf(struct ptc_user *u)
{
	struct ptc_user_bpf_metadata m = u->u.bpf_metadata;
	struct ptc_bpf_metadata_entry e;

	cr_assert_str_eq(m.prog_name, "prog");
	cr_assert(m.n == 2 && ptc_bpf_metadata_next(&m, &e));
	cr_assert_str_eq(e.key, "version");
	cr_assert_str_eq(e.value, "1.2");
	cr_assert(ptc_bpf_metadata_next(&m, &e));
	cr_assert_str_eq(e.key, "who");
	cr_assert_str_eq(e.value, "me");
	cr_assert(!ptc_bpf_metadata_next(&m, &e));
}

static size_t lay_schedstat(struct ptc_buf *b, uint16_t version, uint16_t domain, uint32_t n)
{
	uint32_t i;

	ptc_buf_le64(b, 1000);
	ptc_buf_le32(b, 2);
	ptc_buf_le16(b, version);
	ptc_buf_le16(b, domain);
	for (i = 0; i < n; i++)
		ptc_buf_le32(b, 100 + i);
	return 0;
}

static size_t lay_sched_cpu(struct ptc_buf *b)
{
	(void)lay_schedstat(b, 17, 0, 6);
	words(b, 106, 3);
	return 0;
}

static size_t lay_sched15(struct ptc_buf *b)
{
	return lay_schedstat(b, 15, 1, 36);
}

static size_t lay_sched17(struct ptc_buf *b)
{
	return lay_schedstat(b, 17, 1, 45);
}

size_t ul_lay_sched_new(struct ptc_buf *b)
{
	return lay_schedstat(b, 99, 1, 3) + 12;
}

static void check_counters(struct ptc_user *u, const char *first, const char *last, uint64_t n)
{
	struct ptc_schedstat s = u->u.schedstat;
	const char *name, *before = NULL;
	uint64_t i, v;

	cr_assert(s.time == 1000 && s.cpu == 2);
	for (i = 0; (name = ptc_schedstat_next(&s, &v)); i++) {
		cr_assert_eq(v, 100 + i, "%s", name);
		if (!i)
			cr_assert_str_eq(name, first);
		before = name;
	}
	cr_assert_eq(i, n);
	if (n)
		cr_assert_str_eq(before, last);
}

static void check_sched_cpu(struct ptc_user *u)
{
	check_counters(u, "yld_count", "pcount", 9);
	cr_assert_eq(u->u.schedstat.domain, 0);
}

static void check_sched15(struct ptc_user *u)
{
	check_counters(u, "idle_lb_count", "ttwu_move_balance", 36);
	cr_assert_eq(u->u.schedstat.domain, 1);
}

static void check_sched17(struct ptc_user *u)
{
	check_counters(u, "busy_lb_count", "ttwu_move_balance", 45);
}

static void check_sched_new(struct ptc_user *u)
{
	check_counters(u, "", "", 0);
	cr_assert_eq(ptc_cur_left(&u->u.schedstat.counters), 12);
}

const struct ul_record ul_all[UL_N] = {
	{ PTC_REC_HEADER_ATTR, 0, "attr", ul_lay_attr, check_attr },
	{ PTC_REC_HEADER_ATTR, 0, "attr of 64 bytes", lay_attr_old, check_attr_old },
	{ PTC_REC_HEADER_EVENT_TYPE, 0, "event type", ul_lay_event_type, check_event_type },
	{ PTC_REC_HEADER_EVENT_TYPE, 0, "ledger", lay_ledger, check_ledger },
	{ PTC_REC_HEADER_TRACING_DATA, 0, "tracing data", lay_tracing_data, check_tracing_data },
	{ PTC_REC_HEADER_BUILD_ID, 1 << 15 | PERF_RECORD_MISC_USER, "build-id", ul_lay_build_id,
	  check_build_id },
	{ PTC_REC_FINISHED_ROUND, 0, "round", lay_nothing, check_nothing },
	{ PTC_REC_ID_INDEX, 0, "id index", lay_id_index, check_id_index },
	{ PTC_REC_ID_INDEX, 0, "id index, guests", ul_lay_id_index_guests, check_id_index_guests },
	{ PTC_REC_AUXTRACE_INFO, 0, "auxtrace info", lay_auxtrace_info, check_auxtrace_info },
	{ PTC_REC_AUXTRACE, 0, "auxtrace", lay_auxtrace, check_auxtrace },
	{ PTC_REC_AUXTRACE_ERROR, 0, "error, old", lay_error0, check_error },
	{ PTC_REC_AUXTRACE_ERROR, 0, "error, time", lay_error1, check_error },
	{ PTC_REC_AUXTRACE_ERROR, 0, "error, guest", ul_lay_error2, check_error },
	{ PTC_REC_THREAD_MAP, 0, "thread map", lay_thread_map, check_thread_map },
	{ PTC_REC_CPU_MAP, 0, "cpu map", lay_cpu_map, check_cpu_map },
	{ PTC_REC_STAT_CONFIG, 0, "stat config", lay_stat_config, check_stat_config },
	{ PTC_REC_STAT, 0, "stat", lay_stat, check_stat },
	{ PTC_REC_STAT_ROUND, 0, "stat round", lay_stat_round, check_stat_round },
	{ PTC_REC_EVENT_UPDATE, 0, "unit", ul_lay_unit, check_unit },
	{ PTC_REC_EVENT_UPDATE, 0, "scale", lay_scale, check_scale },
	{ PTC_REC_EVENT_UPDATE, 0, "cpus", lay_update_cpus, check_update_cpus },
	{ PTC_REC_EVENT_UPDATE, 0, "newer update", lay_update_new, check_update_new },
	{ PTC_REC_TIME_CONV, 0, "time conv, short", lay_conv_short, check_conv_short },
	{ PTC_REC_TIME_CONV, 0, "time conv", ul_lay_conv, check_conv },
	{ PTC_REC_HEADER_FEATURE, 0, "feature", lay_feature, check_feature },
	{ PTC_REC_COMPRESSED, 0, "compressed", lay_compressed, check_compressed },
	{ PTC_REC_FINISHED_INIT, 0, "init", lay_nothing, check_nothing },
	{ PTC_REC_COMPRESSED2, 0, "compressed2", lay_compressed2, check_compressed },
	{ PTC_REC_BPF_METADATA, 0, "bpf metadata", ul_lay_bpf, check_bpf },
	{ PTC_REC_SCHEDSTAT_CPU, 0, "schedstat cpu", lay_sched_cpu, check_sched_cpu },
	{ PTC_REC_SCHEDSTAT_DOMAIN, 0, "schedstat 15", lay_sched15, check_sched15 },
	{ PTC_REC_SCHEDSTAT_DOMAIN, 0, "schedstat 17", lay_sched17, check_sched17 },
	{ PTC_REC_SCHEDSTAT_DOMAIN, 0, "schedstat 99", ul_lay_sched_new, check_sched_new },
};
