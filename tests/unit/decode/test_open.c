/* SPDX-License-Identifier: MIT */
/* Description: whole recordings: AUXTRACE records, order, which thread runs, refused files. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording.h"

/* Selects one id. */
static struct ptc_ids only_id(struct ptc_id_range *r, int32_t id)
{
	*r = (struct ptc_id_range){ id, id };
	return (struct ptc_ids){ r, 1 };
}

Test(open, pieces_are_one_stream_and_their_padding_is_no_part_of_it)
{
	struct recording t;
	size_t first;

	rec_begin_code(&t);
	rec_psb_at(&t.a, 10);
	pt_enable(&t.a, 0x1000);
	pt_tnt(&t.a, "T");
	first = t.a.len;
	cr_assert(first % 8);
	pt_tnt(&t.b, "T");
	pt_ip_none(&t.b, PT_PGD);
	rec_piece(&t, 3, 7, -1, 0x100, &t.a);
	rec_piece(&t, 3, 7, -1, 0x100 + first, &t.b);
	rec_expect(&t, "7 0 1000 start\n7 1000 1003 jcc\n7 1003 1006 jmp\n7 1006 1024 call\n"
		       "7 1025 100b ret\n7 100b 0 ijmp\n");
	cr_assert_eq(t.stats.branches, 6);
	cr_assert_eq(t.stats.missing_files, 0);
	rec_end(&t);
}

Test(open, queues_are_merged_by_time_and_ties_go_by_queue)
{
	struct recording t;

	rec_begin_two(&t, 0x1000);
	rec_psb_at(&t.a, 1);
	rec_psb_at(&t.b, 1);
	rec_syscall_at(&t.a, 10, 0x1000);
	rec_syscall_at(&t.b, 20, 0x1000);
	rec_syscall_at(&t.a, 30, 0x1000);
	rec_syscall_at(&t.b, 30, 0x1000);
	rec_syscall_at(&t.a, 50, 0x1000);
	rec_syscall_at(&t.b, 40, 0x1000);
	rec_piece(&t, 1, 8, -1, 0, &t.b);
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n" /* 10 */
			   "8 0 1016 start\n8 1016 0 syscall\n" /* 20 */
			   "7 0 1016 start\n7 1016 0 syscall\n" /* 30 */
			   "8 0 1016 start\n8 1016 0 syscall\n"
			   "8 0 1016 start\n8 1016 0 syscall\n" /* 40 */
			   "7 0 1016 start\n7 1016 0 syscall\n");
}

/* Thread 7's last branch with time 10 is known at 30. @b belongs to thread 8, and is released. */
static void expect_beside(struct ptc_buf *b, const char *lines)
{
	struct recording t;

	rec_begin_two(&t, 0x1000);
	pt_psb_on_at(&t.a, 10, 0x100b);
	pt_ip(&t.a, PT_TIP, 0x100b);
	pt_psb_on_at(&t.a, 30, 0x100b);
	pt_ip_none(&t.a, PT_PGD);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_piece(&t, 1, 8, -1, 0, b);
	rec_expect(&t, lines);
	rec_end(&t);
}

/* The time of the PSB is known before the branch that led there. */
Test(open, the_last_in_front_of_a_psb_comes_in_its_time)
{
	struct ptc_buf b = PTC_BUF_INIT;

	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 20, 0x1000);
	expect_beside(&b, "7 100b 100b ijmp\n"		       /* 10 */
			  "8 0 1016 start\n8 1016 0 syscall\n" /* 20 */
			  "7 100b 0 ijmp\n");
}

/* For any steps of the other queue in between. */
Test(open, a_gap_in_front_of_the_first_time_comes_where_its_queue_goes_on)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb(&b);
	pt_tma(&b, 1, 1); /* without a TSC: libipt cannot begin there */
	pt_psbend(&b);
	rec_syscall_at(&b, 20, 0x1000);
	expect_beside(&b, "7 100b 100b ijmp\n" /* 10 */
			  "8 gap 1 0 23 desync\n"
			  "8 0 1016 start\n8 1016 0 syscall\n" /* 20 */
			  "7 100b 0 ijmp\n");
}

/* The same for a branch: the first time is behind it. */
Test(open, the_last_in_front_of_the_first_time_comes_then)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x100b);
	pt_ip(&b, PT_TIP, 0x100b);
	pt_tsc(&b, 20);
	pt_ip(&b, PT_TIP, 0x100b);
	pt_ip_none(&b, PT_PGD);
	expect_beside(&b, "8 100b 100b ijmp\n"
			  "7 100b 100b ijmp\n" /* 10 */
			  "8 100b 100b ijmp\n" /* 20 */
			  "8 100b 0 ijmp\n"
			  "7 100b 0 ijmp\n");
}

Test(open, without_a_clock_it_is_queue_after_queue)
{
	struct recording t;

	rec_begin(&t, NULL);
	rec_psb_at(&t.a, 50);
	rec_psb_at(&t.b, 1);
	rec_syscall_at(&t.a, 60, 0x1000);
	rec_syscall_at(&t.b, 10, 0x1000);
	rec_piece(&t, 1, 8, -1, 0, &t.b);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_map_code(&t, 7, 1000, 0x1000); /* recorded last, known first */
	rec_map_code(&t, 8, 1000, 0x1000);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n8 0 1016 start\n8 1016 0 syscall\n");
	rec_end(&t);
}

Test(open, a_cpu_s_trace_belongs_to_who_runs_on_it)
{
	struct ptc_id_range only;
	struct recording t;

	rec_begin_two(&t, 0x2000);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 20, 0x1000);
	rec_syscall_at(&t.a, 40, 0x2000);
	rec_syscall_at(&t.a, 60, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 10);
	rec_switch(&t, 2, 7, 8, 30);
	rec_switch(&t, 2, 8, 7, 50);
	rec_piece(&t, 2, -1, 2, 0, &t.a);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n8 0 2016 start\n8 2016 0 syscall\n"
		       "7 0 1016 start\n7 1016 0 syscall\n");
	t.opts.tids = only_id(&only, 8);
	rec_expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	cr_assert_eq(t.stats.branches, 2);
	t.opts.tids = (struct ptc_ids){ NULL, 0 };
	t.opts.cpus = only_id(&only, 1);
	rec_expect(&t, "");
	rec_end(&t);
}

Test(open, a_cpu_s_trace_is_not_of_who_ran_when_it_was_copied)
{
	static const struct ptc_id_range eight[] = { { 8, 8 } };
	struct ptc_id_range only;
	struct recording t;

	rec_begin_two(&t, 0x2000);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 20, 0x1000);
	rec_syscall_at(&t.a, 40, 0x2000);
	pd_itrace_start(&t.pd, 7, 2, 10);
	rec_switch(&t, 2, 7, 8, 30);
	rec_set_info(&t, REC_INFO_SCHED_SWITCH, 2);
	rec_piece(&t, 2, 7, 2, 0, &t.a);
	t.opts.tids = only_id(&only, 8);
	rec_expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	t.opts.tids = (struct ptc_ids){ NULL, 0 };
	t.opts.tids = (struct ptc_ids){ eight, 1 };
	rec_expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	rec_end(&t);
}

Test(open, a_thread_s_trace_is_of_the_cpu_it_runs_on)
{
	struct ptc_id_range only;
	struct recording t;

	rec_begin_code(&t);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 20, 0x1000);
	rec_syscall_at(&t.a, 40, 0x1003 - 0x16);
	rec_piece(&t, 2, 7, -1, 0, &t.a);
	pd_itrace_start(&t.pd, 7, 2, 10);
	pd_switch(&t.pd, 7, 2, 30, true);
	pd_switch(&t.pd, 7, 3, 31, false);
	t.opts.cpus = only_id(&only, 2);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	t.opts.cpus = only_id(&only, 3);
	rec_expect(&t, "7 0 1003 start\n7 1003 1006 jmp\n7 1006 1024 call\n7 1025 0 ret\n");
	t.opts.cpus = only_id(&only, 4);
	rec_expect(&t, "");
	cr_assert_eq(t.stats.branches, 0);
	rec_end(&t);
}

/* The mapping comes behind marks which say that all records so old have come. */
Test(open, a_recording_that_breaks_the_promise_of_its_rounds_is_decoded_all_the_same)
{
	struct recording t;
	int i;

	rec_begin(&t, &rec_clock_1ns);
	rec_map_code(&t, 7, 2, 0x1000);
	pd_comm(&t.pd, 7, 60, "x", false);
	for (i = 0; i < 3; i++)
		pd_raw(&t.pd, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	rec_map_code(&t, 7, 20, 0x5000);
	rec_map_code(&t, 7, 0, 0x9000);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 5, 0x1000);
	rec_syscall_at(&t.a, 10, 0x9000);
	rec_syscall_at(&t.a, 30, 0x5000);
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 9016 start\n7 9016 0 syscall\n"
			   "7 0 5016 start\n7 5016 0 syscall\n");
}

Test(open, a_feature_that_does_not_list_the_trace_there_is_gets_a_note)
{
	static const uint8_t one[24] = { 1 };
	struct recording t;

	rec_begin_traced(&t);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	pd_feature(&t.pd, PTC_FEAT_AUXTRACE, one, sizeof(one));
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	cr_assert(strstr(t.note, "the AUXTRACE feature lists a record that is not there"), "%s",
		  t.note);
	rec_end(&t);
}

static int stop(void *ctx, const struct ptc_item *items, size_t n)
{
	(void)items;
	(void)n;
	++*(int *)ctx;
	return 1;
}

Test(open, a_sink_can_stop_it_and_it_runs_once)
{
	int calls = 0;
	const struct ptc_sink sink = { stop, &calls };
	struct ptc_decode *d;
	struct ptc_err err;
	struct rec_file f;
	struct recording t;
	uint8_t *bytes;
	size_t len;

	rec_begin_traced(&t);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	bytes = pd_finish(&t.pd, &len);
	f = rec_make_file(bytes, len);
	cr_assert_eq(ptc_decode_open(f.path, NULL, &d, &err), 0);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), PTC_E_STOPPED);
	cr_assert_eq(calls, 1);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), PTC_E_USAGE);
	ptc_decode_free(d);
	ptc_decode_free(NULL);
	free(bytes);
	close(f.fd);
	rec_end(&t);
}

Test(open, a_recording_of_something_else_is_refused)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = PERF_ATTR_SIZE_VER7,
					      .config = PERF_COUNT_SW_DUMMY };
	const uint64_t id = 1;
	struct recording t = { .opts = PTC_DECODE_OPTS_INIT };
	struct ptc_err err;
	uint8_t *bytes;
	size_t len;

	pd_init(&t.pd);
	pd_attr(&t.pd, &attr, &id, 1);
	pd_raw(&t.pd, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(rec_run_bytes(&t, bytes, len, &err), PTC_E_NOT_EXIST, "%s", err.msg);
	cr_assert(strstr(err.msg, "holds no AUX trace"), "%s", err.msg);
	free(t.text);
	free(bytes);
	ptc_pt_info_put(&t.pd.data,
			&(struct ptc_pt_info){ .type = PTC_AUXTRACE_TYPE_INTEL_BTS, .filter = "" });
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(rec_run_bytes(&t, bytes, len, &err), PTC_E_UNSUPPORTED, "%s", err.msg);
	free(t.text);
	free(bytes);
	pd_release(&t.pd);
}

Test(open, a_file_cut_anywhere_is_decoded_or_refused)
{
	struct ptc_err err;
	struct recording t;
	uint8_t *bytes;
	size_t len, n;

	rec_begin_traced(&t);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	bytes = pd_finish(&t.pd, &len);
	for (n = 0; n < len; n++) {
		if (rec_run_bytes(&t, bytes, n, &err) < 0)
			cr_assert(err.msg[0]);
		free(t.text);
	}
	free(bytes);
	rec_end(&t);
}

Test(open, options_of_a_newer_caller_are_refused_unless_unset)
{
	struct {
		struct ptc_decode_opts opts;
		uint64_t newer;
	} o = { .opts = PTC_DECODE_OPTS_INIT };
	struct ptc_decode *d;
	struct ptc_err err;
	struct recording t;
	struct rec_file f;
	uint8_t *bytes;
	size_t len;

	rec_begin(&t, &rec_clock_1ns);
	bytes = pd_finish(&t.pd, &len);
	f = rec_make_file(bytes, len);
	o.opts.size = sizeof(o);
	cr_assert_eq(ptc_decode_open(f.path, &o.opts, &d, &err), 0);
	ptc_decode_free(d);
	o.newer = 1;
	cr_assert_eq(ptc_decode_open(f.path, &o.opts, &d, &err), PTC_E_UNSUPPORTED);
	free(bytes);
	close(f.fd);
	rec_end(&t);
}

/* The PSB was read, and then decoding failed. */
Test(open, a_psb_that_was_not_come_to_bounds_the_time)
{
	struct recording t;

	rec_begin_two(&t, 0x2000);
	rec_psb_at(&t.a, 100);
	rec_syscall_at(&t.a, 110, 0x1000);
	pt_tsc(&t.a, 99999);
	pt_ip_none(&t.a, PT_PGD); /* tracing is off */
	rec_psb_at(&t.a, 200);
	rec_syscall_at(&t.a, 210, 0x1000);
	rec_psb_at(&t.a, 300);
	rec_syscall_at(&t.a, 310, 0x2000);
	rec_psb_at(&t.a, 400);
	pd_itrace_start(&t.pd, 7, 2, 1);
	rec_switch(&t, 2, 7, 8, 250);
	rec_piece(&t, 2, -1, 2, 0, &t.a);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 1018 1019 int\n"
		       "7 gap 2 35 0 desync\n"
		       "7 0 1016 start\n7 1016 0 syscall\n8 0 2016 start\n8 2016 0 syscall\n");
	rec_end(&t);
}

/* Returns the difference between the engines, or "". The trace in @t->a belongs to thread 7. */
static const char *differ(struct recording *t)
{
	const struct ptc_sink sink = { rec_on_items, t };
	static char what[256];
	const char *difference;
	struct rec_file f;
	struct ptc_err err;
	uint8_t *bytes;
	size_t len;

	rec_piece(t, 0, 7, -1, 0, &t->a);
	bytes = pd_finish(&t->pd, &len);
	f = rec_make_file(bytes, len);
	t->opts.engine = PTC_ENGINE_VERIFY;
	t->out = open_memstream(&t->text, &t->len);
	cr_assert_eq(ptc_decode_open(f.path, &t->opts, &t->d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_decode_run(t->d, &sink, &err), 0, "%s", err.msg);
	difference = ptc_decode_difference(t->d);
	snprintf(what, sizeof(what), "%s", difference ? difference : "");
	ptc_decode_free(t->d);
	fclose(t->out);
	free(t->text);
	free(bytes);
	close(f.fd);
	rec_end(t);
	return what;
}

/* Nothing is behind the last PSB: libipt comes to it and to the end in one step. */
Test(open, engines_agree_in_a_piece_that_the_last_psb_ends)
{
	struct recording t;

	rec_begin_code(&t);
	pt_psb_on_at(&t.a, 420, 0x1016);
	pt_ip_none(&t.a, PT_PGD);
	pt_psb_off(&t.a);
	cr_assert_str_eq(differ(&t), "");
}

/* The first PSB+ is damaged. Behind the last PSB there is no trace, and no window. */
Test(open, verify_comes_to_the_end_of_a_damaged_trace_that_a_psb_ends)
{
	struct recording t;
	struct ptc_err err;
	uint8_t *bytes;
	size_t len;

	rec_begin_code(&t);
	t.opts.engine = PTC_ENGINE_VERIFY;
	pt_psb_off(&t.a);
	pt_mode_exec64(&t.a);
	pt_ip(&t.a, PT_FUP, 0x1016);
	pt_psbend(&t.a);
	pt_ip_none(&t.a, PT_PGD);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	pt_psb_on_at(&t.a, 420, 0x1016);
	pt_ip_none(&t.a, PT_PGD);
	pt_psb_off(&t.a);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(rec_run_bytes(&t, bytes, len, &err), 0, "%s", err.msg);
	cr_assert_str_eq(t.text, "7 gap 0 12 0 desync\n7 1016 0 syscall\n7 1016 0 syscall\n", "%s",
			 t.text);
	free(t.text);
	free(bytes);
	rec_end(&t);
}
