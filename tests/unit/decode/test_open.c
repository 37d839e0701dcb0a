/* SPDX-License-Identifier: MIT */
/* Description: whole recordings: pieces, side records, order, selection. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"

/* A tick is a nanosecond. */
static const struct ptc_time_conv clock_1ns = { .shift = 0, .mult = 1, .zero = 0 };

struct file {
	char path[64];
	int fd;
};

static struct file make_file(const void *bytes, size_t len)
{
	struct file f = { .fd = memfd_create("test", MFD_CLOEXEC) };

	cr_assert(f.fd >= 0);
	cr_assert_eq(write(f.fd, bytes, len), (ssize_t)len);
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

struct test {
	struct pd pd;
	struct file code; /* pt_code */
	struct ptc_decode_opts opts;
	struct ptc_decode_stats stats;
	char note[512]; /* the first */
	struct ptc_decode *d;
	FILE *out;
	char *text;
	size_t len;
	uint64_t last; /* time of the last item that had one */
};

static void begin(struct test *t, const struct ptc_time_conv *conv)
{
	const struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;

	memset(t, 0, sizeof(*t));
	t->opts = opts;
	pd_init_pt(&t->pd, conv);
	t->code = make_file(pt_code, PT_CODE_LEN);
}

static void map_code(struct test *t, int32_t tid, uint64_t time, uint64_t addr)
{
	pd_mmap2(&t->pd, tid, time, addr, PT_CODE_LEN, 0, t->code.path);
}

/* A piece of queue @idx; @b is released. */
static void piece(struct test *t, uint32_t idx, int32_t tid, int32_t cpu, uint64_t off,
		  struct ptc_buf *b)
{
	pd_auxtrace(&t->pd,
		    &(struct ptc_auxtrace){ .offset = off, .idx = idx, .tid = tid, .cpu = cpu },
		    b->bytes, b->len);
	ptc_buf_release(b);
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct test *t = ctx;
	uint64_t off;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];
		const char *file = ptc_decode_file(t->d, it, it->from ? it->from : it->to, &off);

		if (it->time != PTC_NO_TIME) {
			cr_assert_geq(it->time, t->last, "item %zu goes back in time", i);
			t->last = it->time;
		}
		if (it->type == PTC_ITEM_GAP)
			fprintf(t->out, "%d gap %u %" PRIx64 " %" PRIx64 " %s\n", it->tid,
				it->queue, it->from, it->to,
				ptc_gap_name((enum ptc_gap_cause)it->cause));
		else
			fprintf(t->out, "%d %" PRIx64 " %" PRIx64 " %s%s\n", it->tid, it->from,
				it->to, ptc_kind_name((enum ptc_kind)it->kind),
				file ? "" : " unmapped");
	}
	return 0;
}

static int run_bytes(struct test *t, const void *bytes, size_t len, struct ptc_err *err)
{
	const struct ptc_sink sink = { on_items, t };
	struct file f = make_file(bytes, len);
	const char *note;
	int r;

	t->out = open_memstream(&t->text, &t->len);
	t->last = 0;
	r = ptc_decode_open(f.path, &t->opts, &t->d, err);
	if (!r) {
		r = ptc_decode_run(t->d, &sink, err);
		ptc_decode_get_stats(t->d, &t->stats);
		note = ptc_decode_note(t->d, 0);
		snprintf(t->note, sizeof(t->note), "%s", note ? note : "");
		ptc_decode_free(t->d);
	}
	fclose(t->out);
	close(f.fd);
	return r;
}

static void end(struct test *t)
{
	pd_release(&t->pd);
	close(t->code.fd);
}

/* From either engine. */
static void expect(struct test *t, const char *lines)
{
	static const enum ptc_engine_choice engines[] = { PTC_ENGINE_LIBIPT, PTC_ENGINE_FAST };
	struct ptc_err err;
	uint8_t *bytes;
	size_t len, i;

	bytes = pd_finish(&t->pd, &len);
	for (i = 0; i < 2; i++) {
		t->opts.engine = engines[i];
		cr_assert_eq(run_bytes(t, bytes, len, &err), 0, "%s", err.msg);
		cr_assert_str_eq(t->text, lines, "got:\n%swant:\n%s", t->text, lines);
		free(t->text);
	}
	free(bytes);
}

/* On at @time at the syscall of the code at @base, and off by it. */
static void syscall_at(struct ptc_buf *b, uint64_t time, uint64_t base)
{
	pt_tsc(b, time);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

static void psb_at(struct ptc_buf *b, uint64_t time)
{
	pt_psb(b);
	pt_tsc(b, time);
	pt_psbend(b);
}

Test(open, pieces_are_one_stream_and_their_padding_is_no_part_of_it)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;
	size_t first;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 10);
	pt_enable(&a, 0x1000);
	pt_tnt(&a, "T");
	first = a.len;
	cr_assert(first % 8);
	pt_tnt(&b, "T");
	pt_ip_none(&b, PT_PGD);
	piece(&t, 3, 7, -1, 0x100, &a);
	piece(&t, 3, 7, -1, 0x100 + first, &b);
	expect(&t, "7 0 1000 start\n7 1000 1003 jcc\n7 1003 1006 jmp\n7 1006 1024 call\n"
		   "7 1025 100b ret\n7 100b 0 ijmp\n");
	cr_assert_eq(t.stats.branches, 6);
	cr_assert_eq(t.stats.missing_files, 0);
	end(&t);
}

Test(open, bytes_missing_between_pieces_are_a_gap)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 10);
	syscall_at(&a, 20, 0x1000);
	ptc_buf_zero(&a, 8 - a.len % 8);
	psb_at(&b, 30);
	syscall_at(&b, 40, 0x1000);
	cr_assert_eq(a.len, 0x30);
	piece(&t, 0, 7, -1, 0, &a);
	piece(&t, 0, 7, -1, 0x1000, &b);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 30 fd0 lost\n"
		   "7 0 1016 start\n7 1016 0 syscall\n");
	cr_assert_eq(t.stats.gaps[PTC_GAP_LOST], 1);
	end(&t);
}

/* What AUXTRACE_INFO, behind TIME_CONV, says. */
enum { INFO_SCHED_SWITCH = 7, INFO_SNAPSHOTS = 8 };

static void set_info(struct test *t, int word, uint8_t value)
{
	enum { INFO_SIZE_AT = 6, WORDS = 16 };
	uint8_t *p = t->pd.data.bytes;

	while (p[0] != PTC_REC_AUXTRACE_INFO)
		p += p[INFO_SIZE_AT];
	p[WORDS + 8 * word] = value;
}

Test(open, what_is_missing_between_snapshots_was_not_kept)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT, c = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	set_info(&t, INFO_SNAPSHOTS, 1);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 5);
	pt_tnt(&a, "TNTNTNTN"); /* before the first PSB */
	ptc_buf_zero(&a, 8 - a.len % 8);
	psb_at(&a, 10);
	syscall_at(&a, 20, 0x1000);
	ptc_buf_zero(&a, 8 - a.len % 8);
	psb_at(&b, 30); /* goes on */
	syscall_at(&b, 40, 0x1000);
	ptc_buf_zero(&b, 8 - b.len % 8);
	pd_switch(&t.pd, 7, 2, 45, true); /* not in the trace that was kept */
	pd_switch(&t.pd, 8, 2, 46, false);
	pt_ip_none(&c, PT_PGD);
	pt_psb(&c);
	pt_tsc(&c, 50);
	pt_mode_exec64(&c);
	pt_ip(&c, PT_FUP, 0x1016);
	pt_psbend(&c);
	pt_ip_none(&c, PT_PGD);
	cr_assert_eq(a.len, 0x38);
	cr_assert_eq(b.len, 0x30);
	piece(&t, 2, -1, 2, 0x100, &a);
	piece(&t, 2, -1, 2, 0x138, &b);
	piece(&t, 2, -1, 2, 0x1000, &c);
	expect(&t, "-1 gap 2 0 108 snapshot\n7 0 1016 start\n7 1016 0 syscall\n"
		   "7 0 1016 start\n7 1016 0 syscall\n-1 gap 2 168 e99 snapshot\n"
		   "8 1016 0 syscall\n");
	cr_assert_eq(t.stats.gaps[PTC_GAP_SNAPSHOT], 2);
	t.opts.tid = 7; /* not as if nothing were missing */
	expect(&t, "-1 gap 2 0 108 snapshot\n7 0 1016 start\n7 1016 0 syscall\n"
		   "7 0 1016 start\n7 1016 0 syscall\n-1 gap 2 168 e99 snapshot\n");
	end(&t);
}

Test(open, queues_are_merged_by_time_and_ties_go_by_queue)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x1000);
	psb_at(&a, 1);
	psb_at(&b, 1);
	syscall_at(&a, 10, 0x1000);
	syscall_at(&b, 20, 0x1000);
	syscall_at(&a, 30, 0x1000);
	syscall_at(&b, 30, 0x1000);
	syscall_at(&a, 50, 0x1000);
	syscall_at(&b, 40, 0x1000);
	piece(&t, 1, 8, -1, 0, &b);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n" /* 10 */
		   "8 0 1016 start\n8 1016 0 syscall\n" /* 20 */
		   "7 0 1016 start\n7 1016 0 syscall\n" /* 30 */
		   "8 0 1016 start\n8 1016 0 syscall\n"
		   "8 0 1016 start\n8 1016 0 syscall\n" /* 40 */
		   "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

/* On in the middle of the code: at its jmp *%rax. */
static void psb_on_at(struct ptc_buf *b, uint64_t time)
{
	pt_psb(b);
	pt_tsc(b, time);
	pt_mode_exec64(b);
	pt_ip(b, PT_FUP, 0x100b);
	pt_psbend(b);
}

/* The time of the PSB is known before it is known that it led there. */
Test(open, the_last_in_front_of_a_psb_comes_in_its_time)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x1000);
	psb_on_at(&a, 10);
	pt_ip(&a, PT_TIP, 0x100b);
	pt_ip(&a, PT_TIP, 0x100b);
	psb_on_at(&a, 30);
	pt_ip_none(&a, PT_PGD);
	psb_at(&b, 1);
	syscall_at(&b, 20, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	piece(&t, 1, 8, -1, 0, &b);
	expect(&t, "7 100b 100b ijmp\n7 100b 100b ijmp\n" /* 10 */
		   "8 0 1016 start\n8 1016 0 syscall\n"	  /* 20 */
		   "7 100b 0 ijmp\n");
	end(&t);
}

Test(open, without_a_clock_it_is_queue_after_queue)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;

	begin(&t, NULL);
	psb_at(&a, 50);
	psb_at(&b, 1);
	syscall_at(&a, 60, 0x1000);
	syscall_at(&b, 10, 0x1000);
	piece(&t, 1, 8, -1, 0, &b);
	piece(&t, 0, 7, -1, 0, &a);
	map_code(&t, 7, 1000, 0x1000); /* told last, known first */
	map_code(&t, 8, 1000, 0x1000);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n8 0 1016 start\n8 1016 0 syscall\n");
	end(&t);
}

Test(open, code_mapped_by_a_syscall_is_there_when_it_returns)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	syscall_at(&a, 30, 0x5000);
	syscall_at(&a, 50, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	map_code(&t, 7, 20, 0x5000);
	/* What was at 0x1000 is replaced: there is no code any more. */
	pd_mmap2(&t.pd, 7, 40, 0x1000, 0x1000, 0, "//anon");
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 5016 start\n7 5016 0 syscall\n"
		   "7 0 1016 start\n7 gap 0 4f 1 nocode\n");
	cr_assert_str_eq(t.note,
			 "no code for '//anon': 1 gap, about 1 branch; it is in no file; a core "
			 "of the process may have it: --core");
	cr_assert_eq(t.stats.missing_files, 1);
	end(&t);
}

Test(open, behind_a_gap_code_counts_that_was_mapped_since)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x5000); /* nothing there yet */
	syscall_at(&a, 15, 0x5000);
	syscall_at(&a, 30, 0x5000);
	syscall_at(&a, 50, 0x5000); /* and not any more */
	syscall_at(&a, 60, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	map_code(&t, 7, 20, 0x5000);
	pd_mmap2(&t.pd, 7, 40, 0x5000, 0x1000, 0, "//anon");
	expect(&t, "7 0 5016 start unmapped\n7 gap 0 2b 1d nocode\n"
		   "7 0 5016 start\n7 5016 0 syscall\n"
		   "7 0 5016 start\n7 gap 0 61 b nocode\n"
		   "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, behind_a_gap_the_code_is_that_of_who_runs_then)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x2000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x5000);
	syscall_at(&a, 30, 0x2000);
	syscall_at(&a, 50, 0x2000); /* 7 has none there */
	syscall_at(&a, 70, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 1);
	pd_switch(&t.pd, 7, 2, 20, true);
	pd_switch(&t.pd, 8, 2, 21, false);
	pd_switch(&t.pd, 8, 2, 40, true);
	pd_switch(&t.pd, 7, 2, 41, false);
	piece(&t, 2, -1, 2, 0, &a);
	expect(&t, "7 0 5016 start unmapped\n7 gap 2 2b b nocode\n"
		   "8 0 2016 start\n8 2016 0 syscall\n"
		   "7 0 2016 start unmapped\n7 gap 2 4f b nocode\n"
		   "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

/* On at the syscall of the code at @base, @mtc periods of 1000 ns later, and off by it. */
static void syscall_at_mtc(struct ptc_buf *b, uint8_t mtc, uint64_t base)
{
	pt_mtc(b, mtc);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

Test(open, behind_a_gap_mtcs_tell_who_runs_then)
{
	static const char lines[] = "7 0 5016 start unmapped\n7 gap 2 2c 5 nocode\n"
				    "8 0 2016 start\n8 2016 0 syscall\n"
				    "7 0 2016 start unmapped\n7 gap 2 44 5 nocode\n"
				    "7 0 1016 start\n7 1016 0 syscall\n";
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x2000);
	pt_psb(&a);
	pt_tsc(&a, 10000);
	pt_tma(&a, 16 + 4, 100); /* half of a period behind the last multiple */
	pt_psbend(&a);
	syscall_at_mtc(&a, 3, 0x5000); /* 10400 */
	syscall_at_mtc(&a, 5, 0x2000); /* 12400 */
	syscall_at_mtc(&a, 6, 0x2000); /* 13400: 7 has none there */
	syscall_at_mtc(&a, 7, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 1);
	pd_switch(&t.pd, 7, 2, 12390, true);
	pd_switch(&t.pd, 8, 2, 12400, false);
	pd_switch(&t.pd, 8, 2, 12401, true);
	pd_switch(&t.pd, 7, 2, 13400, false);
	piece(&t, 2, -1, 2, 0, &a);
	expect(&t, lines);
	t.opts.jobs = 2;
	t.opts.slice = 1;
	expect(&t, lines);
	end(&t);
}

Test(open, an_exec_begins_with_nothing_and_a_fork_with_what_its_parent_has)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	psb_at(&b, 1);
	syscall_at(&a, 10, 0x1000);
	syscall_at(&b, 30, 0x1000); /* the child */
	syscall_at(&a, 50, 0x1000); /* the parent, after its exec */
	piece(&t, 0, 7, -1, 0, &a);
	piece(&t, 1, 9, -1, 0, &b);
	pd_task(&t.pd, PERF_RECORD_FORK, 9, 9, 7, 20);
	pd_comm(&t.pd, 7, 40, "new", true);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n"
		   "9 0 1016 start\n9 1016 0 syscall\n"
		   "7 0 1016 start unmapped\n7 gap 0 3d 3 nocode\n");
	end(&t);
}

Test(open, symbols_and_files_are_those_of_the_moment)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	pd_comm(&t.pd, 7, 11, "gone", true); /* at once, before anything else is decoded */
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, a_cpu_s_trace_belongs_to_who_runs_on_it)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x2000);
	psb_at(&a, 1);
	syscall_at(&a, 20, 0x1000);
	syscall_at(&a, 40, 0x2000);
	syscall_at(&a, 60, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 10);
	pd_switch(&t.pd, 7, 2, 30, true);
	pd_switch(&t.pd, 8, 2, 31, false);
	pd_switch(&t.pd, 8, 2, 50, true);
	pd_switch(&t.pd, 7, 2, 51, false);
	piece(&t, 2, -1, 2, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n8 0 2016 start\n8 2016 0 syscall\n"
		   "7 0 1016 start\n7 1016 0 syscall\n");
	t.opts.tid = 8;
	expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	cr_assert_eq(t.stats.branches, 2);
	t.opts.tid = -1;
	t.opts.cpu = 1;
	expect(&t, "");
	end(&t);
}

Test(open, a_cpu_s_trace_is_not_of_who_ran_when_it_was_copied)
{
	static const struct ptc_id_range eight[] = { { 8, 8 } };
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x2000);
	psb_at(&a, 1);
	syscall_at(&a, 20, 0x1000);
	syscall_at(&a, 40, 0x2000);
	pd_itrace_start(&t.pd, 7, 2, 10);
	pd_switch(&t.pd, 7, 2, 30, true);
	pd_switch(&t.pd, 8, 2, 31, false);
	set_info(&t, INFO_SCHED_SWITCH, 2);
	piece(&t, 2, 7, 2, 0, &a);
	t.opts.tid = 8;
	expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	t.opts.tid = -1;
	t.opts.tids = (struct ptc_ids){ eight, 1 };
	expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	end(&t);
}

Test(open, a_thread_s_trace_is_of_the_cpu_it_runs_on)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 20, 0x1000);
	syscall_at(&a, 40, 0x1003 - 0x16);
	piece(&t, 2, 7, -1, 0, &a);
	pd_itrace_start(&t.pd, 7, 2, 10);
	pd_switch(&t.pd, 7, 2, 30, true);
	pd_switch(&t.pd, 7, 3, 31, false);
	t.opts.cpu = 2;
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	t.opts.cpu = 3;
	expect(&t, "7 0 1003 start\n7 1003 1006 jmp\n7 1006 1024 call\n7 1025 0 ret\n");
	t.opts.cpu = 4;
	expect(&t, "");
	cr_assert_eq(t.stats.branches, 0);
	end(&t);
}

Test(open, losses_that_records_tell_of_are_gaps)
{
	struct ptc_sb lost = {
		.type = PERF_RECORD_LOST,
		.id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 20, .id = PD_ID_DUMMY },
		.u.lost = { .id = PD_ID_DUMMY, .lost = 5 }
	};
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	size_t len;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	len = a.len;
	syscall_at(&a, 30, 0x1000);
	pd_sb(&t.pd, &lost);
	pd_aux(&t.pd, 7, 0, 15, 0, len, PERF_AUX_FLAG_PARTIAL);
	pd_aux(&t.pd, 7, 0, 35, len, a.len - len, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 8, 0, 35, len, a.len - len, PERF_AUX_FLAG_TRUNCATED); /* another's */
	piece(&t, 0, 7, -1, 0, &a);
	t.opts.insns = false;
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 2c 0 partial\n"
		   "7 gap 0 36 0 lost\n7 0 1016 start\n7 1016 0 syscall\n"
		   "7 gap 0 3e 0 truncated\n");
	cr_assert_str_eq(t.note, "5 records were lost while recording");
	end(&t);
}

/*
 * The flow up to the call at 1006, whose return would come next; then a loss
 * that left no OVF: the bytes behind it are of another flow. Returns where the
 * loss is, in the AUX stream.
 */
static size_t lose_silently(struct ptc_buf *b)
{
	size_t at;

	psb_at(b, 1);
	pt_tsc(b, 10);
	pt_enable(b, 0x1000);
	pt_tnt(b, "T");
	at = b->len;
	pt_tnt(b, "T");		  /* would be the return at 1025 ... */
	pt_ip(b, PT_TIP, 0x1016); /* ... and the jump at 100b */
	pt_ip_none(b, PT_PGD);
	return at;
}

Test(open, trace_that_records_tell_of_and_the_file_does_not_have_is_a_gap)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	ptc_buf_zero(&a, 8 - a.len % 8);
	cr_assert_eq(a.len, 0x30);
	pd_aux(&t.pd, 7, 0, 15, 0, 0x30, 0);
	pd_aux(&t.pd, 7, 0, 25, 0x30, 0x100, 0);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 30 100 lost\n");
	end(&t);
}

Test(open, decoding_does_not_read_on_where_the_buffer_was_full)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	char want[256];
	size_t at, psb;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	at = lose_silently(&a);
	psb = a.len;
	psb_at(&a, 30);
	syscall_at(&a, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, at, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, at, a.len - at, 0);
	piece(&t, 0, 7, -1, 0, &a);
	snprintf(want, sizeof(want),
		 "7 0 1000 start\n7 1000 1003 jcc\n7 1003 1006 jmp\n7 1006 1024 call\n"
		 "7 gap 0 %zx %zx truncated\n7 0 1016 start\n7 1016 0 syscall\n",
		 at, psb - at);
	expect(&t, want);
	cr_assert_eq(t.stats.gaps[PTC_GAP_TRUNCATED], 1);
	end(&t);
}

Test(open, what_is_left_of_a_packet_the_full_buffer_cut_off_is_of_the_same_gap)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;
	char want[256];
	size_t at, first, psb;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	at = a.len;
	ptc_buf_put(&a, "\x19\x7f\x7f", 3); /* of a TSC */
	first = a.len;
	pt_tnt(&b, "TTTT");
	psb = first + b.len;
	psb_at(&b, 30);
	syscall_at(&b, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, first, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, first, b.len, 0);
	piece(&t, 0, 7, -1, 0, &a);
	piece(&t, 0, 7, -1, first, &b);
	snprintf(want, sizeof(want),
		 "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 %zx %zx truncated\n"
		 "7 0 1016 start\n7 1016 0 syscall\n",
		 at, psb - at);
	expect(&t, want);
	end(&t);
}

/* Full, full again before a PSB came, and full with nothing written since: by offset, two places.
 */
Test(open, each_place_where_the_buffer_was_full_is_a_gap)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	char want[256];
	size_t at[2], psb;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	at[0] = a.len;
	pt_tnt(&a, "TTTTTTTTTTTT");
	at[1] = a.len;
	pt_tnt(&a, "TTTTTT");
	psb = a.len;
	psb_at(&a, 30);
	syscall_at(&a, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, at[0], PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 20, at[0], at[1] - at[0], PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 21, at[1], 0, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, at[1], a.len - at[1], PERF_AUX_FLAG_TRUNCATED);
	snprintf(want, sizeof(want),
		 "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 %zx %zx truncated\n"
		 "7 gap 0 %zx %zx truncated\n7 0 1016 start\n7 1016 0 syscall\n"
		 "7 gap 0 %zx 0 truncated\n",
		 at[0], at[1] - at[0], at[1], psb - at[1], a.len);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, want);
	end(&t);
}

Test(open, a_full_buffer_in_front_of_missing_bytes_is_told_apart_from_them)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;
	size_t at;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	at = a.len;
	cr_assert_eq(at, 0x2c);
	psb_at(&b, 30);
	syscall_at(&b, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, at, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, 0x1000, b.len, 0);
	piece(&t, 0, 7, -1, 0, &a);
	piece(&t, 0, 7, -1, 0x1000, &b);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 2c 0 truncated\n"
		   "7 gap 0 2c fd4 lost\n7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

/* Two rings whose AUX records only their ids tell apart. */
Test(open, a_loss_is_of_the_queue_whose_id_the_record_has)
{
	struct ptc_sb sb = { .type = PERF_RECORD_AUX,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 5, .tid = 5, .cpu = 99 } };
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;
	uint64_t i, k;
	size_t start;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x1000);
	start = ptc_rec_begin(&t.pd.data, PTC_REC_ID_INDEX, 0);
	ptc_buf_le64(&t.pd.data, 2);
	for (i = 0; i < 2; i++) {
		const uint64_t entry[] = { PD_ID_PT + i, 3 + i, UINT64_MAX, UINT64_MAX };

		for (k = 0; k < 4; k++)
			ptc_buf_le64(&t.pd.data, entry[k]);
	}
	ptc_rec_end(&t.pd.data, start);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	psb_at(&b, 1);
	syscall_at(&b, 20, 0x1000);
	sb.id.id = PD_ID_PT + 1;
	sb.id.time = 30;
	sb.u.aux = (struct ptc_sb_aux){ 0, b.len, PERF_AUX_FLAG_TRUNCATED };
	pd_sb(&t.pd, &sb);
	piece(&t, 3, 7, -1, 0, &a);
	piece(&t, 4, 8, -1, 0, &b);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n8 0 1016 start\n8 1016 0 syscall\n"
		   "8 gap 4 2c 0 truncated\n");
	end(&t);
}

/* The mapping comes after marks which say that everything so old had come. */
Test(open, a_recording_that_breaks_the_promise_of_its_rounds_is_decoded_all_the_same)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	int i;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 2, 0x1000);
	pd_comm(&t.pd, 7, 60, "x", false);
	for (i = 0; i < 3; i++)
		pd_raw(&t.pd, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	map_code(&t, 7, 20, 0x5000);
	map_code(&t, 7, 0, 0x9000);
	psb_at(&a, 1);
	syscall_at(&a, 5, 0x1000);
	syscall_at(&a, 10, 0x9000);
	syscall_at(&a, 30, 0x5000);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 9016 start\n7 9016 0 syscall\n"
		   "7 0 5016 start\n7 5016 0 syscall\n");
	end(&t);
}

Test(open, a_feature_that_does_not_list_the_trace_there_is_gets_a_note)
{
	static const uint8_t one[24] = { 1 };
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	pd_feature(&t.pd, PTC_FEAT_AUXTRACE, one, sizeof(one));
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	cr_assert(strstr(t.note, "the AUXTRACE feature lists a record that is not there"), "%s",
		  t.note);
	end(&t);
}

/* A sample of the event PD_ID_PT that has these bytes as its trace. */
static void sample_on(struct test *t, int32_t tid, uint32_t cpu, uint64_t time,
		      const uint8_t *bytes, size_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_le64(&b, PD_ID_PT); /* IDENTIFIER IP TID TIME CPU AUX */
	ptc_buf_le64(&b, 0x1000);
	ptc_buf_le32(&b, (uint32_t)tid);
	ptc_buf_le32(&b, (uint32_t)tid);
	ptc_buf_le64(&b, time);
	ptc_buf_le64(&b, cpu);
	ptc_buf_le64(&b, len);
	ptc_buf_put(&b, bytes, len);
	pd_raw(&t->pd, PERF_RECORD_SAMPLE, 0, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void sample(struct test *t, int32_t tid, uint64_t time, const uint8_t *bytes, size_t len)
{
	sample_on(t, tid, 0, time, bytes, len);
}

Test(open, trace_in_samples_is_decoded_and_what_two_have_once)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	size_t at[2], third;

	begin(&t, &clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	psb_at(&a, 10);
	syscall_at(&a, 20, 0x1000);
	at[0] = a.len;
	psb_at(&a, 30);
	syscall_at(&a, 40, 0x1000);
	at[1] = a.len;
	syscall_at(&a, 50, 0x1000);
	third = a.len;
	syscall_at(&a, 60, 0x1000); /* in no sample */
	sample(&t, 7, 45, a.bytes, at[1]);
	sample(&t, 7, 55, a.bytes + at[0] - 5, third - at[0] + 5);
	psb_at(&a, 70);
	syscall_at(&a, 80, 0x1003 - 0x16);
	sample(&t, 7, 85, a.bytes + third + 18, a.len - third - 18);
	ptc_buf_release(&a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 1016 start\n7 1016 0 syscall\n"
		   "7 0 1016 start\n7 1016 0 syscall\n-1 gap 0 6a 0 snapshot\n"
		   "7 0 1003 start\n7 1003 1006 jmp\n7 1006 1024 call\n7 1025 0 ret\n");
	end(&t);
}

/* PSBs at 100, 200, ..., @n of them, a syscall behind each. at[i]: where the i-th is; at[n]: the
 * end. */
static void psbs(struct ptc_buf *b, size_t *at, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		at[i] = b->len;
		psb_at(b, 100 * i + 100);
		syscall_at(b, 100 * i + 150, 0x1000);
	}
	at[n] = b->len;
}

Test(open, what_samples_do_not_have_is_told_and_is_no_loss)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	size_t at[10];

	begin(&t, &clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	psbs(&a, at, 9);
	/* The end of the first one's trace, from inside a packet on, and all of the second's. */
	sample(&t, 7, 260, a.bytes + at[1] - 5, at[2] - at[1] + 5);
	/* Nothing new since: the same; a part of it. */
	sample(&t, 7, 265, a.bytes + at[1] - 5, at[2] - at[1] + 5);
	sample(&t, 7, 266, a.bytes + at[1], at[2] - at[1]);
	/* 300 is in none. This one goes on, the next one too, with more than it in front. */
	sample(&t, 7, 460, a.bytes + at[3] - 9, at[4] - at[3] + 9);
	sample(&t, 7, 560, a.bytes + at[3], at[5] - at[3]);
	/* Without a PSB nothing can be made of it. */
	sample(&t, 7, 660, a.bytes + at[5] + 26, at[6] - at[5] - 26);
	sample(&t, 7, 760, a.bytes + at[6], at[7] - at[6]);
	/* No trace at all. */
	sample(&t, 7, 770, a.bytes, 0);
	sample(&t, 7, 960, a.bytes + at[7], at[9] - at[7]);
	ptc_buf_release(&a);
	expect(&t, "-1 gap 0 0 5 snapshot\n7 0 1016 start\n7 1016 0 syscall\n"	/* 200 */
		   "-1 gap 0 31 9 snapshot\n7 0 1016 start\n7 1016 0 syscall\n" /* 400 */
		   "7 0 1016 start\n7 1016 0 syscall\n"				/* 500 */
		   "-1 gap 0 92 12 snapshot\n-1 gap 0 a4 0 snapshot\n"
		   "7 0 1016 start\n7 1016 0 syscall\n"				/* 700 */
		   "-1 gap 0 d0 0 snapshot\n7 0 1016 start\n7 1016 0 syscall\n" /* 800 */
		   "7 0 1016 start\n7 1016 0 syscall\n");			/* 900 */
	cr_assert_eq(t.stats.gaps[PTC_GAP_LOST], 0);
	cr_assert_eq(t.stats.gaps[PTC_GAP_DESYNC], 0);
	end(&t);
}

/* One with a PSB at @psb and a syscall at @at. */
static void short_sample(struct test *t, int32_t tid, uint32_t cpu, uint64_t psb, uint64_t at)
{
	struct ptc_buf a = PTC_BUF_INIT;

	psb_at(&a, psb);
	syscall_at(&a, at, 0x1000);
	sample_on(t, tid, cpu, at + 5, a.bytes, a.len);
	ptc_buf_release(&a);
}

/* Thread 7 is on CPU 0 from 1 to @leaves, and then on CPU 1, of which a sample has 200 and what is
 * behind. */
static void moves_between_samples(uint64_t leaves, uint64_t comes, const char *want)
{
	struct test t;

	begin(&t, &clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	short_sample(&t, 7, 0, 10, 20); /* up to 25 */
	pd_switch(&t.pd, 7, 0, leaves, true);
	pd_switch(&t.pd, 7, 1, comes, false);
	short_sample(&t, 7, 1, 200, 250);
	expect(&t, want);
	end(&t);
}

Test(open, a_thread_that_moved_between_samples_is_not_joined)
{
	/* It is there when the sample's trace begins: what it did since it left is all there. */
	moves_between_samples(
		23, 220, "7 0 1016 start\n7 1016 0 syscall\n7 0 1016 start\n7 1016 0 syscall\n");
	/* It came earlier; it left later than what is kept. */
	moves_between_samples(23, 100,
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 1 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
	moves_between_samples(90, 220,
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
	moves_between_samples(90, 100,
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
}

/* In between it was on another CPU: of that there is no sample at all, or one that is older. */
static void was_away(bool is_known)
{
	struct test t;

	begin(&t, &clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	if (is_known) {
		map_code(&t, 8, 0, 0x1000);
		pd_itrace_start(&t.pd, 8, 1, 1);
		short_sample(&t, 8, 1, 5, 8);
	}
	short_sample(&t, 7, 0, 10, 20);
	pd_switch(&t.pd, 7, 0, 22, true);
	pd_switch(&t.pd, 7, 1, 23, false);
	pd_switch(&t.pd, 7, 1, 30, true);
	pd_switch(&t.pd, 7, 2, 215, false);
	short_sample(&t, 7, 2, 200, 250);
	expect(&t, is_known ? "8 0 1016 start\n8 1016 0 syscall\n"
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 1 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n" :
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 1 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, a_cpu_without_a_sample_at_that_time_is_a_gap_of_who_was_there)
{
	was_away(false);
	was_away(true);
}

Test(open, code_that_came_with_the_recording_is_used)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x2000, 0, "[vdso]");
	pd_poke(&t.pd, 7, 0, 0x9000, pt_code, 20); /* in two pieces */
	pd_poke(&t.pd, 7, 0, 0x9014, pt_code + 20, PT_CODE_LEN - 20);
	pd_poke(&t.pd, 7, 30, 0xa000, pt_code, PT_CODE_LEN);
	psb_at(&a, 1);
	syscall_at(&a, 20, 0x9000);
	syscall_at(&a, 40, 0xa000);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 9016 start\n7 9016 0 syscall\n7 0 a016 start\n7 a016 0 syscall\n");
	cr_assert_eq(t.stats.missing_files, 0);
	end(&t);
}

/* mov %eax, %eax; syscall - and the same with a jmp to the syscall in front. */
static const uint8_t code_mov[] = { 0x89, 0xc0, 0x0f, 0x05 };
static const uint8_t code_jmp[] = { 0xeb, 0x00 };

static void run_at(struct ptc_buf *b, uint64_t time, uint64_t ip)
{
	pt_tsc(b, time);
	pt_enable(b, ip);
	pt_ip_none(b, PT_PGD);
}

Test(open, code_changes_when_its_time_has_come)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x9000, code_mov, sizeof(code_mov));
	pd_poke(&t.pd, 7, 20, 0x9000, code_jmp, sizeof(code_jmp));
	pd_poke(&t.pd, 7, 40, 0x9000, code_mov, sizeof(code_mov));
	psb_at(&a, 1);
	run_at(&a, 10, 0x9000);
	run_at(&a, 12, 0x9000); /* once more: now it could come from a cache */
	run_at(&a, 30, 0x9000);
	run_at(&a, 50, 0x9000);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 9000 start\n7 9002 0 syscall\n7 0 9000 start\n7 9002 0 syscall\n"
		   "7 0 9000 start\n7 9000 9002 jmp\n7 9002 0 syscall\n"
		   "7 0 9000 start\n7 9002 0 syscall\n");
	end(&t);
}

Test(open, a_patch_hides_what_the_file_has_until_something_else_is_mapped)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	/* two bytes in front of the syscall of the file's code: 83 c0 01 there */
	pd_poke(&t.pd, 7, 20, 0x1014, code_jmp, sizeof(code_jmp));
	map_code(&t, 7, 40, 0x1000);
	psb_at(&a, 1);
	run_at(&a, 10, 0x1016);
	run_at(&a, 30, 0x1014);
	run_at(&a, 50, 0x1016);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n"
		   "7 0 1014 start\n7 1014 1016 jmp\n7 1016 0 syscall\n"
		   "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, a_patch_is_gone_with_its_mapping)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x9000, code_mov, sizeof(code_mov));
	pd_mmap2(&t.pd, 7, 20, 0x9000, 0x1000, 0, "//anon");
	psb_at(&a, 1);
	run_at(&a, 10, 0x9000);
	run_at(&a, 30, 0x9000);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 9000 start\n7 9002 0 syscall\n7 0 9000 start\n7 gap 0 3d 3 nocode\n");
	end(&t);
}

Test(open, a_forked_process_has_the_patches_of_its_parent_and_its_own_alone)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x9000, code_mov, sizeof(code_mov));
	pd_task(&t.pd, PERF_RECORD_FORK, 9, 9, 7, 20);
	pd_poke(&t.pd, 9, 40, 0x9000, code_jmp, sizeof(code_jmp));
	pd_comm(&t.pd, 9, 70, "new", true);
	psb_at(&a, 1);
	psb_at(&b, 1);
	run_at(&a, 10, 0x9000);
	run_at(&b, 30, 0x9000);
	run_at(&b, 50, 0x9000);
	run_at(&a, 60, 0x9000);
	run_at(&b, 80, 0x9000); /* exec: nothing is left */
	piece(&t, 0, 7, -1, 0, &a);
	piece(&t, 1, 9, -1, 0, &b);
	expect(&t, "7 0 9000 start\n7 9002 0 syscall\n"
		   "9 0 9000 start\n9 9002 0 syscall\n"
		   "9 0 9000 start\n9 9000 9002 jmp\n9 9002 0 syscall\n"
		   "7 0 9000 start\n7 9002 0 syscall\n"
		   "9 0 9000 start unmapped\n9 gap 1 4f 1 nocode\n");
	end(&t);
}

/* Each at a page of its own, and forks that want copies: memory goes by the file, time too. */
Test(open, patches_without_number_at_absurd_addresses_do_no_harm)
{
	enum { MANY = 100000 };
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	uint64_t i;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	for (i = 0; i < MANY; i++)
		pd_poke(&t.pd, 7, 5, UINT64_MAX - i * 0x123456789000, code_jmp, sizeof(code_jmp));
	for (i = 0; i < 1000; i++)
		pd_task(&t.pd, PERF_RECORD_FORK, 100 + (int32_t)i, 100 + (int32_t)i, 7, 6);
	psb_at(&a, 1);
	run_at(&a, 10, 0x1016);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, copies_of_patches_have_a_limit)
{
	enum { MANY = 20000 };
	struct ptc_buf a = PTC_BUF_INIT;
	struct ptc_err err;
	uint8_t *bytes;
	struct test t;
	int32_t i;
	size_t len;

	begin(&t, &clock_1ns);
	for (i = 0; i < MANY; i++)
		pd_poke(&t.pd, 7, 5, 0x1000 * (uint64_t)i, code_jmp, sizeof(code_jmp));
	for (i = 8; i < 1000; i++) { /* each has to have all of them, but for one */
		pd_task(&t.pd, PERF_RECORD_FORK, i, i, 7, 6);
		pd_poke(&t.pd, i, 6, 0, code_mov, sizeof(code_mov));
	}
	psb_at(&a, 1);
	run_at(&a, 10, 0x1016);
	piece(&t, 0, 7, -1, 0, &a);
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(run_bytes(&t, bytes, len, &err), PTC_E_LIMIT);
	free(t.text);
	free(bytes);
	end(&t);
}

Test(open, the_kernel_s_patches_are_not_the_program_s)
{
	struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
			     .misc = PERF_RECORD_MISC_KERNEL,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 5 },
			     .u.poke = { .addr = 0x1016 } };
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	sb.u.poke.new_bytes = ptc_cur_init(code_jmp, sizeof(code_jmp));
	pd_sb(&t.pd, &sb);
	psb_at(&a, 1);
	run_at(&a, 10, 0x1016);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, the_kernel_is_as_at_the_beginning_when_the_last_transfers_have_been_counted)
{
	static const uint64_t kernel = 0xffffffffc0000000;
	struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
			     .misc = PERF_RECORD_MISC_KERNEL,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 50 },
			     .u.poke = { .addr = kernel } };
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;

	begin(&t, &clock_1ns);
	t.pd.attrs[0].attr.exclude_kernel = 0;
	map_code(&t, 7, 0, 0x1000);
	sb.u.poke.new_bytes = ptc_cur_init(code_mov, sizeof(code_mov));
	pd_sb(&t.pd, &sb);
	psb_at(&a, 1);
	run_at(&a, 10, 0x1016);
	run_at(&a, 20, kernel); /* nothing is known of it yet */
	run_at(&a, 60, kernel);
	piece(&t, 0, 7, -1, 0, &a);
	t.opts.last = 100;
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 ffffffffc0000000 start unmapped\n"
		   "7 gap 0 3d b nocode\n7 0 ffffffffc0000000 start unmapped\n"
		   "7 ffffffffc0000002 0 syscall unmapped\n");
	end(&t);
}

Test(open, a_file_that_is_not_the_recorded_one_is_not_used)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2,
			     .misc = PERF_RECORD_MISC_USER,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7 },
			     .u.mmap = { .pid = 7,
					 .tid = 7,
					 .addr = 0x1000,
					 .len = 0x1000,
					 .prot = PROT_READ | PROT_EXEC,
					 .build_id = { .bytes = { 0xab, 0xcd }, .len = 20 } } };
	struct ptc_buf a = PTC_BUF_INIT;
	char want[256];
	struct test t;

	begin(&t, &clock_1ns);
	sb.u.mmap.filename = t.code.path;
	pd_sb(&t.pd, &sb);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	expect(&t, "7 0 1016 start\n7 gap 0 2b 5 nocode\n");
	snprintf(want, sizeof(want),
		 "no code for '%s' (build-id abcd000000000000000000000000000000000000; it has no "
		 "build-id now): 1 gap, about 1 branch; the file there is another one",
		 t.code.path);
	t.note[strlen(want)] = '\0'; /* a hint follows */
	cr_assert_str_eq(t.note, want);
	end(&t);
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
	struct ptc_buf a = PTC_BUF_INIT;
	int calls = 0;
	const struct ptc_sink sink = { stop, &calls };
	struct ptc_decode *d;
	struct ptc_err err;
	struct file f;
	struct test t;
	uint8_t *bytes;
	size_t len;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	bytes = pd_finish(&t.pd, &len);
	f = make_file(bytes, len);
	cr_assert_eq(ptc_decode_open(f.path, NULL, &d, &err), 0);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), PTC_E_STOPPED);
	cr_assert_eq(calls, 1);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), PTC_E_USAGE);
	ptc_decode_free(d);
	ptc_decode_free(NULL);
	free(bytes);
	close(f.fd);
	end(&t);
}

Test(open, a_recording_of_something_else_is_refused)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = PERF_ATTR_SIZE_VER7,
					      .config = PERF_COUNT_SW_DUMMY };
	const uint64_t id = 1;
	struct test t = { .opts = PTC_DECODE_OPTS_INIT };
	struct ptc_err err;
	uint8_t *bytes;
	size_t len;

	pd_init(&t.pd);
	pd_attr(&t.pd, &attr, &id, 1);
	pd_raw(&t.pd, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(run_bytes(&t, bytes, len, &err), PTC_E_NOT_EXIST, "%s", err.msg);
	cr_assert(strstr(err.msg, "holds no AUX trace"), "%s", err.msg);
	free(t.text);
	free(bytes);
	ptc_pt_info_put(&t.pd.data,
			&(struct ptc_pt_info){ .type = PTC_AUXTRACE_TYPE_INTEL_BTS, .filter = "" });
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(run_bytes(&t, bytes, len, &err), PTC_E_UNSUPPORTED, "%s", err.msg);
	free(t.text);
	free(bytes);
	pd_release(&t.pd);
}

Test(open, a_file_cut_anywhere_is_decoded_or_refused)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct ptc_err err;
	struct test t;
	uint8_t *bytes;
	size_t len, n;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	psb_at(&a, 1);
	syscall_at(&a, 10, 0x1000);
	piece(&t, 0, 7, -1, 0, &a);
	bytes = pd_finish(&t.pd, &len);
	for (n = 0; n < len; n++) {
		if (run_bytes(&t, bytes, n, &err) < 0)
			cr_assert(err.msg[0]);
		free(t.text);
	}
	free(bytes);
	end(&t);
}

Test(open, options_of_a_newer_caller_are_refused_unless_unset)
{
	struct {
		struct ptc_decode_opts opts;
		uint64_t newer;
	} o = { .opts = PTC_DECODE_OPTS_INIT };
	struct ptc_decode *d;
	struct ptc_err err;
	struct test t;
	struct file f;
	uint8_t *bytes;
	size_t len;

	begin(&t, &clock_1ns);
	bytes = pd_finish(&t.pd, &len);
	f = make_file(bytes, len);
	o.opts.size = sizeof(o);
	cr_assert_eq(ptc_decode_open(f.path, &o.opts, &d, &err), 0);
	ptc_decode_free(d);
	o.newer = 1;
	cr_assert_eq(ptc_decode_open(f.path, &o.opts, &d, &err), PTC_E_UNSUPPORTED);
	free(bytes);
	close(f.fd);
	end(&t);
}

/* PSBs at 100, 200, ..., @n of them, a syscall behind each; threads 7 and 8 take turns. */
static void take_turns(struct test *t, int n)
{
	struct ptc_buf a = PTC_BUF_INIT;
	int i;

	begin(t, &clock_1ns);
	map_code(t, 7, 0, 0x1000);
	map_code(t, 8, 0, 0x2000);
	for (i = 1; i <= n; i++) {
		pd_switch(&t->pd, i % 2 ? 7 : 8, 2, (uint64_t)i * 100 - 10, false);
		psb_at(&a, (uint64_t)i * 100);
		syscall_at(&a, (uint64_t)i * 100 + 20, i % 2 ? 0x1000 : 0x2000);
		pd_switch(&t->pd, i % 2 ? 7 : 8, 2, (uint64_t)i * 100 + 50, true);
	}
	piece(t, 2, -1, 2, 0, &a);
}

Test(open, the_last_transfers_of_each_thread_are_found_from_the_end)
{
	struct test t;

	take_turns(&t, 40);
	t.opts.last = 1;
	expect(&t, "7 1016 0 syscall\n8 2016 0 syscall\n");
	cr_assert_eq(t.stats.branches, 2);
	cr_assert_lt(t.stats.aux_bytes, 200);
	t.opts.last = 3;
	expect(&t, "7 1016 0 syscall\n8 2016 0 syscall\n7 0 1016 start\n7 1016 0 syscall\n"
		   "8 0 2016 start\n8 2016 0 syscall\n");
	t.opts.last = 2;
	t.opts.tid = 7;
	expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	end(&t);
}

Test(open, of_a_thread_that_rests_the_last_transfers_are_looked_for_further_back)
{
	struct ptc_buf a = PTC_BUF_INIT;
	struct test t;
	int i;

	begin(&t, &clock_1ns);
	map_code(&t, 7, 0, 0x1000);
	map_code(&t, 8, 0, 0x2000);
	psb_at(&a, 1);
	pd_switch(&t.pd, 8, 2, 10, false);
	syscall_at(&a, 20, 0x2000);
	pd_switch(&t.pd, 7, 2, 30, false);
	for (i = 0; i < 5000; i++) {
		psb_at(&a, (uint64_t)i * 100 + 100);
		syscall_at(&a, (uint64_t)i * 100 + 120, 0x1000);
	}
	piece(&t, 2, -1, 2, 0, &a);
	t.opts.last = 1;
	expect(&t, "8 2016 0 syscall\n7 1016 0 syscall\n");
	t.opts.tid = 7; /* nobody asks for it */
	expect(&t, "7 1016 0 syscall\n");
	cr_assert_lt(t.stats.aux_bytes, 200);
	end(&t);
}

Test(open, of_chosen_threads_and_cpus_only)
{
	static const struct ptc_id_range some[] = { { 1, 1 }, { 8, 9 } };
	struct test t;

	take_turns(&t, 2);
	t.opts.tids = (struct ptc_ids){ some, 2 };
	expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	t.opts.tids.n = 1;
	expect(&t, "");
	t.opts.tids.n = 0;
	t.opts.cpus = (struct ptc_ids){ some, 2 };
	expect(&t, "");
	end(&t);
}

Test(open, of_a_time_nothing_in_front_and_behind_is_decoded)
{
	struct ptc_decode_stats stats;
	struct ptc_sink sink;
	uint64_t first, last;
	struct ptc_err err;
	uint8_t *bytes;
	struct file f;
	struct test t;
	size_t len;

	take_turns(&t, 40);
	bytes = pd_finish(&t.pd, &len);
	f = make_file(bytes, len);
	t.out = open_memstream(&t.text, &t.len);
	cr_assert_eq(ptc_decode_open(f.path, &t.opts, &t.d, &err), 0);
	cr_assert_eq(ptc_decode_get_times(t.d, &first, &last, &err), 0);
	cr_assert_eq(first, 100);
	cr_assert_eq(last, 4020);
	cr_assert_eq(ptc_decode_choose_time(t.d, 2020, 2119, &err), 0);
	sink = (struct ptc_sink){ on_items, &t };
	cr_assert_eq(ptc_decode_run(t.d, &sink, &err), 0);
	ptc_decode_get_stats(t.d, &stats);
	cr_assert_eq(stats.branches, 2);
	cr_assert_lt(stats.aux_bytes, 300);
	ptc_decode_free(t.d);
	fclose(t.out);
	cr_assert_str_eq(t.text, "8 0 2016 start\n8 2016 0 syscall\n");
	free(t.text);
	t.opts.last = 1;
	cr_assert_eq(ptc_decode_open(f.path, &t.opts, &t.d, &err), 0);
	cr_assert_eq(ptc_decode_choose_time(t.d, 2020, 2119, &err), PTC_E_USAGE);
	ptc_decode_free(t.d);
	close(f.fd);
	free(bytes);
	end(&t);
}
