/* SPDX-License-Identifier: MIT */
/*
 * Description: tracepoint formats and BPF programs, laid out by hand and as the writer puts them.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "auxtrace/feature/feature.h"

static struct ptc_err err;

static void le64(struct ptc_buf *b, const char *text)
{
	ptc_buf_le64(b, strlen(text));
	ptc_buf_put(b, text, strlen(text));
}

/* As perf's trace-event-info.c writes it. */
static void tracing(struct ptc_buf *b, const char *version)
{
	ptc_buf_put(b, "\x17\x08\x44tracing", 10);
	ptc_buf_str(b, version, 0);
	ptc_buf_u8(b, 0);
	ptc_buf_u8(b, 8);
	ptc_buf_le32(b, 4096);
	ptc_buf_str(b, "header_page", 0);
	le64(b, "page");
	ptc_buf_str(b, "header_event", 0);
	le64(b, "event");
	ptc_buf_le32(b, 1);
	le64(b, "function");
	ptc_buf_le32(b, 2);
	ptc_buf_str(b, "sched", 0);
	ptc_buf_le32(b, 2);
	le64(b, "switch");
	le64(b, "");
	ptc_buf_str(b, "irq", 0);
	ptc_buf_le32(b, 0);
	ptc_buf_le32(b, 0);
	ptc_buf_le32(b, 4);
	ptc_buf_put(b, "fmts", 4);
	if (strcmp(version, "0.5") != 0)
		le64(b, "1 init");
}

static void is(struct ptc_cur c, const char *text)
{
	cr_assert_eq(ptc_cur_left(&c), strlen(text), "%s", text);
	cr_assert(!*text || !memcmp(c.pos, text, strlen(text)), "%s", text);
}

Test(feature_kernel, the_formats_of_tracepoints_are_in_folders)
{
	struct ptc_buf b = PTC_BUF_INIT, again = PTC_BUF_INIT;
	struct ptc_feature_iter systems;
	struct ptc_trace_system s;
	struct ptc_tracing_data t;
	struct ptc_cur blob;

	tracing(&b, "0.6");
	cr_assert_eq(ptc_feature_parse_tracing_data(ptc_cur_init(b.bytes, b.len), 0, &t, &err), 0,
		     "%s", err.msg);
	cr_assert(!strcmp(t.version, "0.6") && t.long_size == 8 && t.page_size == 4096);
	is(t.header_page, "page");
	is(t.header_event, "event");
	is(t.kallsyms, "");
	is(t.printk, "fmts");
	is(t.cmdlines, "1 init");
	is(t.rest, "");
	ptc_feature_put_tracing_data(&again, &t);
	cr_assert_eq(again.len, b.len);
	cr_assert_eq(memcmp(again.bytes, b.bytes, b.len), 0);
	cr_assert_eq(ptc_feature_next_blob(&t.ftrace, &blob, &err), 1);
	is(blob, "function");
	cr_assert_eq(ptc_feature_next_blob(&t.ftrace, &blob, &err), 0);
	systems = t.systems;
	cr_assert_eq(ptc_feature_next_trace_system(&systems, &s, &err), 1);
	cr_assert_str_eq(s.name, "sched");
	cr_assert_eq(ptc_feature_next_blob(&s.formats, &blob, &err), 1);
	is(blob, "switch");
	cr_assert_eq(ptc_feature_next_blob(&s.formats, &blob, &err), 1);
	is(blob, "");
	cr_assert_eq(ptc_feature_next_blob(&s.formats, &blob, &err), 0);
	cr_assert_eq(ptc_feature_next_trace_system(&systems, &s, &err), 1);
	cr_assert_str_eq(s.name, "irq");
	cr_assert_eq(ptc_feature_next_trace_system(&systems, &s, &err), 0);
	ptc_buf_release(&b);
	ptc_buf_release(&again);
}

Test(feature_kernel, before_version_0_6_there_are_no_command_lines)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_tracing_data t;

	tracing(&b, "0.5");
	cr_assert_eq(ptc_feature_parse_tracing_data(ptc_cur_init(b.bytes, b.len), 0, &t, &err), 0);
	cr_assert(!ptc_cur_left(&t.cmdlines) && !ptc_cur_left(&t.rest));
	b.bytes[10 + 4] = 1;
	cr_assert_eq(ptc_feature_parse_tracing_data(ptc_cur_init(b.bytes, b.len), 0, &t, &err),
		     PTC_E_UNSUPPORTED, "big-endian");
	b.bytes[0] = 1;
	cr_assert_eq(ptc_feature_parse_tracing_data(ptc_cur_init(b.bytes, b.len), 0, &t, &err),
		     PTC_E_FORMAT);
	ptc_buf_release(&b);
}

Test(feature_kernel, of_bpf_programs_as_much_is_read_as_there_is)
{
	struct ptc_buf b = PTC_BUF_INIT, info = PTC_BUF_INIT, again = PTC_BUF_INIT;
	struct ptc_bpf_prog p, both[2];
	struct ptc_feature_iter it;
	size_t i;

	ptc_buf_le32(&info, 5);
	ptc_buf_le32(&info, 17);
	ptc_buf_put(&info, "TAGTAGTA", 8);
	ptc_buf_le32(&info, 100);
	ptc_buf_le32(&info, 200);
	ptc_buf_zero(&info, 16);
	ptc_buf_le64(&info, 12345);
	ptc_buf_le32(&info, 1000);
	ptc_buf_zero(&info, 12);
	ptc_buf_put(&info, "sixteen_letters!", 16);
	ptc_buf_zero(&info, 100);

	ptc_buf_le32(&b, 2);
	ptc_buf_le32(&b, (uint32_t)info.len);
	ptc_buf_le32(&b, 8);
	ptc_buf_le64(&b, 3);
	ptc_buf_put(&b, info.bytes, info.len);
	ptc_buf_put(&b, "12345678", 8);
	ptc_buf_le32(&b, 8); /* size in an older kernel */
	ptc_buf_le32(&b, 0);
	ptc_buf_le64(&b, 0);
	ptc_buf_put(&b, info.bytes, 8);

	cr_assert_eq(ptc_feature_open(PTC_FEAT_BPF_PROG_INFO, ptc_cur_init(b.bytes, b.len), 0, &it,
				      &err),
		     0);
	cr_assert_eq(ptc_feature_next_bpf_prog(&it, &p, &err), 1);
	cr_assert(p.type == 5 && p.id == 17 && !memcmp(p.tag, "TAGTAGTA", 8) &&
		  p.jited_len == 100 && p.xlated_len == 200 && p.load_time_ns == 12345 &&
		  p.uid == 1000 && p.arrays == 3);
	cr_assert_str_eq(p.name, "sixteen_letters!");
	is(p.data, "12345678");
	both[0] = p;
	cr_assert_eq(ptc_feature_next_bpf_prog(&it, &p, &err), 1);
	cr_assert(p.type == 5 && p.id == 17 && !p.jited_len && !*p.name);
	both[1] = p;
	cr_assert_eq(ptc_feature_next_bpf_prog(&it, &p, &err), 0);
	ptc_feature_put_bpf_progs(&again, both, 2);
	cr_assert(again.len == b.len && !memcmp(again.bytes, b.bytes, b.len));

	ptc_buf_reset(&b);
	ptc_feature_put_bpf_btfs(
		&b, (struct ptc_bpf_btf[2]){ { 3, both[0].data }, { 4, { NULL, NULL } } }, 2);
	cr_assert_eq(ptc_feature_open(PTC_FEAT_BPF_BTF, ptc_cur_init(b.bytes, b.len), 0, &it, &err),
		     0);
	for (i = 0; i < 2; i++) {
		struct ptc_bpf_btf btf;

		cr_assert_eq(ptc_feature_next_bpf_btf(&it, &btf, &err), 1);
		cr_assert_eq(btf.id, 3 + i);
		is(btf.data, i ? "" : "12345678");
	}
	ptc_buf_release(&b);
	ptc_buf_release(&info);
	ptc_buf_release(&again);
}
