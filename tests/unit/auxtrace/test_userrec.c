/* SPDX-License-Identifier: MIT */
/*
 * Description: perf's user-space records: laid out by hand, parsed, written again, cut, and with
 * false claims.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/ledger.h"
#include "auxtrace/userrec.h"
#include "lib_numbers.h"
#include "lib_perfdata.h"
#include "lib_walk.h"

/* One record body in its published layout. */
struct sample_record {
	uint32_t type;
	uint16_t misc;
	const char *what;
	/* Lays out the body. Returns how many bytes at its end may be cut without an error. */
	size_t (*lay_out)(struct ptc_buf *b);
	void (*check)(struct ptc_user *u);
};

static void text(struct ptc_buf *b, const char *s, size_t size)
{
	ptc_buf_put(b, s, strlen(s));
	ptc_buf_zero(b, size - strlen(s));
}

static void words(struct ptc_buf *b, uint64_t first, size_t n)
{
	while (n--)
		ptc_buf_le64(b, first++);
}

static size_t lay_attr(struct ptc_buf *b)
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

static size_t lay_event_type(struct ptc_buf *b)
{
	ptc_buf_le64(b, 3);
	text(b, "cycles", 64);
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
	text(b, "ptcap ledger", 64);
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

static size_t lay_build_id(struct ptc_buf *b)
{
	ptc_buf_le32(b, UINT32_MAX);
	text(b, "0123456789abcdef", 20);
	ptc_buf_u8(b, 16);
	ptc_buf_zero(b, 3);
	text(b, "/bin/x", 12);
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

static size_t lay_id_index_guests(struct ptc_buf *b)
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
	text(b, "lost", fmt > 1 ? 64 : 8);
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

static size_t lay_error2(struct ptc_buf *b)
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
	text(b, "a", 16);
	ptc_buf_le64(b, UINT64_MAX);
	text(b, "sixteen letters!", 16);
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

static size_t lay_unit(struct ptc_buf *b)
{
	words(b, PTC_UPDATE_UNIT, 1);
	words(b, 5, 1);
	text(b, "Joules", 8);
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

static size_t lay_conv(struct ptc_buf *b)
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
	text(b, "not a multiple", 14);
	return 14;
}

static void check_feature(struct ptc_user *u)
{
	cr_assert(u->u.feature.id == PTC_FEAT_HOSTNAME && ptc_cur_left(&u->u.feature.data) == 14);
}

static size_t lay_compressed(struct ptc_buf *b)
{
	text(b, "seven b", 7);
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
	text(b, "seven b", 8);
	return 1;
}

static size_t lay_bpf(struct ptc_buf *b)
{
	text(b, "prog", 512);
	ptc_buf_le64(b, 2);
	text(b, "version", 64);
	text(b, "1.2", 256);
	text(b, "who", 64);
	text(b, "me", 256);
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

static size_t lay_sched_new(struct ptc_buf *b)
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

static const struct sample_record all[] = {
	{ PTC_REC_HEADER_ATTR, 0, "attr", lay_attr, check_attr },
	{ PTC_REC_HEADER_ATTR, 0, "attr of 64 bytes", lay_attr_old, check_attr_old },
	{ PTC_REC_HEADER_EVENT_TYPE, 0, "event type", lay_event_type, check_event_type },
	{ PTC_REC_HEADER_EVENT_TYPE, 0, "ledger", lay_ledger, check_ledger },
	{ PTC_REC_HEADER_TRACING_DATA, 0, "tracing data", lay_tracing_data, check_tracing_data },
	{ PTC_REC_HEADER_BUILD_ID, 1 << 15 | PERF_RECORD_MISC_USER, "build-id", lay_build_id,
	  check_build_id },
	{ PTC_REC_FINISHED_ROUND, 0, "round", lay_nothing, check_nothing },
	{ PTC_REC_ID_INDEX, 0, "id index", lay_id_index, check_id_index },
	{ PTC_REC_ID_INDEX, 0, "id index, guests", lay_id_index_guests, check_id_index_guests },
	{ PTC_REC_AUXTRACE_INFO, 0, "auxtrace info", lay_auxtrace_info, check_auxtrace_info },
	{ PTC_REC_AUXTRACE, 0, "auxtrace", lay_auxtrace, check_auxtrace },
	{ PTC_REC_AUXTRACE_ERROR, 0, "error, old", lay_error0, check_error },
	{ PTC_REC_AUXTRACE_ERROR, 0, "error, time", lay_error1, check_error },
	{ PTC_REC_AUXTRACE_ERROR, 0, "error, guest", lay_error2, check_error },
	{ PTC_REC_THREAD_MAP, 0, "thread map", lay_thread_map, check_thread_map },
	{ PTC_REC_CPU_MAP, 0, "cpu map", lay_cpu_map, check_cpu_map },
	{ PTC_REC_STAT_CONFIG, 0, "stat config", lay_stat_config, check_stat_config },
	{ PTC_REC_STAT, 0, "stat", lay_stat, check_stat },
	{ PTC_REC_STAT_ROUND, 0, "stat round", lay_stat_round, check_stat_round },
	{ PTC_REC_EVENT_UPDATE, 0, "unit", lay_unit, check_unit },
	{ PTC_REC_EVENT_UPDATE, 0, "scale", lay_scale, check_scale },
	{ PTC_REC_EVENT_UPDATE, 0, "cpus", lay_update_cpus, check_update_cpus },
	{ PTC_REC_EVENT_UPDATE, 0, "newer update", lay_update_new, check_update_new },
	{ PTC_REC_TIME_CONV, 0, "time conv, short", lay_conv_short, check_conv_short },
	{ PTC_REC_TIME_CONV, 0, "time conv", lay_conv, check_conv },
	{ PTC_REC_HEADER_FEATURE, 0, "feature", lay_feature, check_feature },
	{ PTC_REC_COMPRESSED, 0, "compressed", lay_compressed, check_compressed },
	{ PTC_REC_FINISHED_INIT, 0, "init", lay_nothing, check_nothing },
	{ PTC_REC_COMPRESSED2, 0, "compressed2", lay_compressed2, check_compressed },
	{ PTC_REC_BPF_METADATA, 0, "bpf metadata", lay_bpf, check_bpf },
	{ PTC_REC_SCHEDSTAT_CPU, 0, "schedstat cpu", lay_sched_cpu, check_sched_cpu },
	{ PTC_REC_SCHEDSTAT_DOMAIN, 0, "schedstat 15", lay_sched15, check_sched15 },
	{ PTC_REC_SCHEDSTAT_DOMAIN, 0, "schedstat 17", lay_sched17, check_sched17 },
	{ PTC_REC_SCHEDSTAT_DOMAIN, 0, "schedstat 99", lay_sched_new, check_sched_new },
};

enum { N = sizeof(all) / sizeof(all[0]) };

static struct ptc_rec record(const struct sample_record *r, const uint8_t *body, size_t len)
{
	return (struct ptc_rec){
		.off = 96, .type = r->type, .misc = r->misc, .body = ptc_cur_init(body, len)
	};
}

Test(userrec, every_record_is_read_and_put_again_byte_for_byte)
{
	size_t i;

	for (i = 0; i < N; i++) {
		struct ptc_buf b = PTC_BUF_INIT, again = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_rec rec;
		struct ptc_err err;

		(void)all[i].lay_out(&b);
		rec = record(&all[i], b.bytes, b.len);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s: %s", all[i].what, err.msg);
		cr_assert(u.off == 96 && u.type == all[i].type && u.misc == all[i].misc);
		all[i].check(&u);
		ptc_user_put(&again, &u);
		cr_assert(!ptc_buf_failed(&again), "%s", all[i].what);
		cr_assert_geq(again.len, 8 + b.len, "%s", all[i].what);
		cr_assert_eq(ptc_le32(again.bytes), all[i].type);
		cr_assert_eq(ptc_le16(again.bytes + 4), all[i].misc);
		cr_assert_eq(ptc_le16(again.bytes + 6), again.len);
		if (b.len)
			cr_assert_eq(memcmp(again.bytes + 8, b.bytes, b.len), 0, "%s", all[i].what);
		rec = record(&all[i], again.bytes + 8, again.len - 8);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s: %s", all[i].what, err.msg);
		if (all[i].lay_out != lay_sched_new) /* its padding reads as counters */
			all[i].check(&u);
		ptc_buf_release(&b);
		ptc_buf_release(&again);
	}
}

Test(userrec, cut_at_every_length_a_record_is_refused)
{
	size_t i, len, optional;

	for (i = 0; i < N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		optional = all[i].lay_out(&b);
		for (len = 0; len <= b.len; len++) {
			uint8_t *bytes = pd_exact(b.bytes, len);
			const struct ptc_rec rec = record(&all[i], bytes, len);
			struct ptc_user u;
			struct ptc_err err;
			int rc = ptc_user_parse(&rec, &u, &err);
			int want = len + optional >= b.len ? 1 : PTC_E_FORMAT;

			if (all[i].lay_out == lay_conv && len == 24)
				want = 1; /* the short form */
			if (all[i].lay_out == lay_event_type && len > 8 && len % 8 == 0)
				want = 1; /* perf's, up to 3.10 */
			cr_assert_eq(rc, want, "%s, length %zu of %zu", all[i].what, len, b.len);
			if (rc < 0)
				cr_assert(err.off == 96 && strstr(err.msg, ptc_rec_name(rec.type)));
			free(bytes);
		}
		ptc_buf_release(&b);
	}
}

Test(userrec, counts_are_held_against_the_bytes_that_are_there)
{
	static const struct {
		uint32_t type;
		size_t off; /* offset of the count (u64) */
		uint64_t exact;
	} counts[] = {
		{ PTC_REC_ID_INDEX, 0, 2 },	  { PTC_REC_THREAD_MAP, 0, 2 },
		{ PTC_REC_STAT_CONFIG, 0, 2 },	  { PTC_REC_COMPRESSED2, 0, 8 },
		{ PTC_REC_BPF_METADATA, 512, 2 },
	};
	size_t i, j;
	unsigned int bit;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct sample_record *r = all;
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_err err;
		struct ptc_rec rec;

		while (r->type != counts[i].type)
			r++;
		(void)r->lay_out(&b);
		rec = record(r, b.bytes, b.len);
		for (j = 0; j <= counts[i].exact; j++) {
			ptc_buf_set_le64(&b, counts[i].off, j);
			cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s %zu", r->what, j);
		}
		ptc_buf_set_le64(&b, counts[i].off, counts[i].exact + 1);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "%s", r->what);
		for (bit = 5; bit < 64; bit++) { /* the product wraps around */
			ptc_buf_set_le64(&b, counts[i].off, counts[i].exact + (UINT64_C(1) << bit));
			cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "%s bit %u",
				     r->what, bit);
		}
		ptc_buf_set_le64(&b, counts[i].off, UINT64_MAX);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT);
		ptc_buf_release(&b);
	}
}

Test(userrec, an_attr_whose_size_is_not_its_own_is_refused)
{
	const uint32_t sizes[] = { 1, 63, 153, 1000, UINT32_MAX };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_user u;
	struct ptc_err err;
	struct ptc_rec rec;
	size_t i;

	(void)lay_attr(&b); /* 128 + 24 bytes */
	rec = record(&all[0], b.bytes, b.len);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memcpy(b.bytes + 4, &sizes[i], 4);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "%u", sizes[i]);
	}
	memcpy(b.bytes + 4, &(uint32_t){ 0 }, 4); /* no size field yet: 64 bytes */
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert_eq(ptc_cur_left(&u.u.attr.ids), 64 + 24);
	memcpy(b.bytes + 4, &(uint32_t){ 152 }, 4); /* larger than ours: unknown bytes */
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert(u.u.attr.unknown_bytes && !ptc_cur_left(&u.u.attr.ids));
	ptc_buf_release(&b);
}

Test(userrec, a_build_id_without_its_size_has_twenty_bytes)
{
	const struct sample_record old = { .type = PTC_REC_HEADER_BUILD_ID };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_user u;
	struct ptc_err err;
	struct ptc_rec rec;

	(void)lay_build_id(&b);
	b.bytes[24] = 21;
	rec = record(&old, b.bytes, b.len);
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert_eq(u.u.build_id.id.len, 20);
	rec.misc = 1 << 15;
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

/* perf up to 3.10 ended the record with the name, padded to 8 bytes. */
Test(userrec, the_name_of_an_event_type_may_be_short_and_have_no_end)
{
	static const char *const names[] = { "cycles", "branches", "cache-references" };
	const struct sample_record r = { .type = PTC_REC_HEADER_EVENT_TYPE };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_err err;
		struct ptc_rec rec;

		ptc_buf_le64(&b, 3);
		text(&b, names[i], (strlen(names[i]) + 7) / 8 * 8);
		rec = record(&r, b.bytes, b.len);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s", err.msg);
		cr_assert_eq(u.u.event_type.event_id, 3);
		cr_assert_str_eq(u.u.event_type.name, names[i]);
		ptc_buf_release(&b);
	}
}

Test(userrec, texts_that_do_not_end_in_their_field_are_refused)
{
	static const struct {
		size_t (*lay_out)(struct ptc_buf *b);
		uint32_t type;
		size_t off, len; /* of the field */
	} fields[] = {
		{ lay_event_type, PTC_REC_HEADER_EVENT_TYPE, 8, 64 },
		{ lay_error2, PTC_REC_AUXTRACE_ERROR, 40, 64 },
		{ lay_unit, PTC_REC_EVENT_UPDATE, 16, 8 },
		{ lay_bpf, PTC_REC_BPF_METADATA, 0, 512 },
		{ lay_bpf, PTC_REC_BPF_METADATA, 520, 64 },
		{ lay_bpf, PTC_REC_BPF_METADATA, 520 + 320 + 64, 256 },
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct sample_record r = { .type = fields[i].type };
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_err err;
		struct ptc_rec rec;

		(void)fields[i].lay_out(&b);
		memset(b.bytes + fields[i].off, 'x', fields[i].len - 1);
		rec = record(&r, b.bytes, b.len);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "field %zu", i);
		b.bytes[fields[i].off + fields[i].len - 1] = 'x';
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "field %zu", i);
		ptc_buf_release(&b);
	}
}

Test(userrec, what_does_not_fit_its_field_is_not_built)
{
	static const uint8_t bytes[64];
	char long_text[600];
	struct ptc_user u[] = {
		{ .type = PTC_REC_HEADER_EVENT_TYPE,
		  .u.event_type = { .event_id = 1, .name = long_text } },
		{ .type = PTC_REC_AUXTRACE_ERROR, .u.auxtrace_error = { .msg = long_text } },
		{ .type = PTC_REC_BPF_METADATA, .u.bpf_metadata = { .prog_name = long_text } },
		{ .type = PTC_REC_THREAD_MAP, .u.thread_map.entries = { bytes, bytes + 23 } },
		{ .type = PTC_REC_STAT_CONFIG, .u.stat_config.entries = { bytes, bytes + 17 } },
		{ .type = PTC_REC_ID_INDEX,
		  .u.id_index = { 1, { bytes, bytes + 32 }, { bytes, bytes + 32 } } },
		{ .type = PTC_REC_HEADER_ATTR }, /* size 0 */
		{ .type = PTC_REC_CPU_MAP,
		  .u.cpu_map = { .type = PTC_CPU_MAP_MASK, .word_size = 3 } },
	};
	size_t i;

	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = 0;
	for (i = 0; i < sizeof(u) / sizeof(u[0]); i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		ptc_user_put(&b, &u[i]);
		cr_assert(ptc_buf_failed(&b), "case %zu", i);
		ptc_buf_release(&b);
	}
}

Test(userrec, an_id_index_is_built_entry_by_entry)
{
	const struct ptc_id_index_entry e[] = {
		{ .id = 1, .idx = 2, .cpu = 3, .tid = 4, .machine_pid = 30, .vcpu = 31 },
		{ .id = 5, .idx = 6, .cpu = -1, .tid = -1, .machine_pid = 32, .vcpu = 33 },
	};
	struct ptc_buf entries = PTC_BUF_INIT, guests = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_user u = { .type = PTC_REC_ID_INDEX };
	size_t i;

	for (i = 0; i < 2; i++) {
		ptc_id_index_put_entry(&entries, &e[i]);
		ptc_id_index_put_guest(&guests, &e[i]);
	}
	u.u.id_index.entries = ptc_cur_init(entries.bytes, entries.len);
	u.u.id_index.guests = ptc_cur_init(guests.bytes, guests.len);
	ptc_user_put(&b, &u);
	(void)lay_id_index_guests(&want);
	cr_assert_eq(b.len, 8 + want.len);
	cr_assert_eq(memcmp(b.bytes + 8, want.bytes, want.len), 0);
	ptc_buf_release(&entries);
	ptc_buf_release(&guests);
	ptc_buf_release(&b);
	ptc_buf_release(&want);
}

Test(userrec, other_types_are_left_alone_and_every_name_has_a_type)
{
	struct ptc_err err;
	struct ptc_user u;
	uint32_t type;

	for (type = 0; type < 200; type++) {
		const struct ptc_rec rec = { .off = 5, .type = type };
		const bool ours = type >= PTC_REC_USER_START && ptc_rec_name(type);

		cr_assert_eq(ptc_user_parse(&rec, &u, &err) != 0, ours, "type %u", type);
	}
}

static void try_record(const void *ctx, const uint8_t *bytes, size_t len)
{
	const struct ptc_rec rec = record(ctx, bytes, len);

	(void)wk_record(&rec, 0, NULL);
}

Test(userrec, no_number_at_any_place_leads_outside)
{
	size_t i;

	for (i = 0; i < N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		(void)all[i].lay_out(&b);
		nb_each(b.bytes, b.len, try_record, &all[i]);
		ptc_buf_release(&b);
	}
}
