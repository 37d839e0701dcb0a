/* SPDX-License-Identifier: MIT */
/* Description: the content and the timing of branch stacks from a software source. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/sample.h"
#include "capture/rings/ring.h"
#include "capture/soft/ground_truth.h"
#include "capture/soft/insn_to_packets.h"
#include "capture/soft/lbr.h"

enum { DATA = 65536, PID = 10, TID = 11, OTHER = 12, CALL_LEN = 5 };

struct bench {
	struct ptc_record_opts opts;
	struct ptc_softring *soft;
	struct ptc_ring ring;
	struct ptc_clock clock;
	struct ptc_records rec;
	struct ptc_lbr_stacks stacks;
	struct ptc_lbr lbr;
	struct ptc_flow flow;
	struct ptc_truth *truth;
	struct ptc_sample sample; /* the newest one */
	struct ptc_branch e[64];
	uint64_t samples;
	struct ptc_err err;
};

static void drop(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
}

static void open_bench(struct bench *b, const struct ptc_record_opts *o)
{
	const struct ptc_enc_opts enc = { .psb_period = 2048, .mtc_freq = 3, .tsc_per_ctc = 125 };
	const struct ptc_softring_opts ring = { .data_size = DATA,
						.lossy = true,
						.sample_type = PTC_SOFT_SAMPLE_TYPE };

	memset(b, 0, sizeof(*b));
	b->opts = *o;
	b->clock.conv.mult = 1;
	cr_assert_eq(ptc_lbr_check(&b->opts, DATA, &b->err), 0, "%s", b->err.msg);
	cr_assert_eq(ptc_softring_new(&ring, &b->soft, &b->err), 0);
	cr_assert_eq(ptc_ring_init(&b->ring, ptc_softring_page(b->soft),
				   (size_t)sysconf(_SC_PAGESIZE), DATA, &b->err),
		     0);
	b->rec = (struct ptc_records){ .ring = b->soft, .clock = &b->clock, .cpu = 3 };
	cr_assert_eq(ptc_truth_new(&b->truth, &b->err), 0);
	cr_assert_eq(ptc_lbr_init(&b->lbr, &b->opts, &b->stacks, &b->rec, 77, b->truth, &b->err),
		     0);
	cr_assert_eq(ptc_enc_new(&enc, drop, NULL, &b->flow.enc, &b->err), 0);
	b->flow.lbr = &b->lbr;
	ptc_enc_begin(b->flow.enc, 1);
	ptc_flow_of(&b->flow, PID, TID);
}

static void close_bench(struct bench *b)
{
	ptc_lbr_release(&b->lbr);
	ptc_lbr_stacks_release(&b->stacks);
	ptc_records_release(&b->rec);
	ptc_enc_free(b->flow.enc);
	ptc_truth_free(b->truth);
	ptc_softring_free(b->soft);
}

/* Reads the samples in the ring, with the attr that the file has. */
static void read_all(struct bench *b)
{
	const struct perf_event_attr attr = ptc_lbr_attr(&b->opts);
	struct ptc_seg seg[2];
	uint64_t end, n, i;
	struct ptc_rec rec;
	struct ptc_cur c;

	if (ptc_ring_read(&b->ring, seg, &end, &b->err) <= 0)
		return;
	cr_assert_eq(seg[1].len, 0);
	c = ptc_cur_init(seg[0].bytes, seg[0].len);
	while (ptc_cur_left(&c)) {
		cr_assert_eq(ptc_rec_next(&c, 0, &rec, &b->err), 1);
		cr_assert_eq(rec.type, PERF_RECORD_SAMPLE);
		cr_assert_geq(ptc_sample_parse(&rec, &attr, &b->sample, &b->err), 0, "%s",
			      b->err.msg);
		b->samples++;
	}
	n = b->sample.branches.n;
	for (i = 0; i < n; i++)
		cr_assert(ptc_branches_next(&b->sample.branches, &b->e[i]));
	b->sample.branches.n = n;
	ptc_ring_done(&b->ring, end);
}

static void retire(struct bench *b, enum ptc_kind kind, uint64_t ip, uint64_t to)
{
	const struct ptc_insn insn = { .len = CALL_LEN,
				       .kind = (uint8_t)kind,
				       .cond = PTC_COND_NONE,
				       .direct = true,
				       .target = kind == PTC_KIND_JCC ? 0x9000 : to };

	ptc_flow_retire(&b->flow, &insn, ip, to, false, 1);
}

/* Checks the entries of the newest sample, each "from/to ", newest first. */
static void has(struct bench *b, const char *want)
{
	char text[512] = "";
	uint64_t i;

	read_all(b);
	for (i = 0; i < b->sample.branches.n; i++) {
		const size_t n = strlen(text);

		(void)snprintf(text + n, sizeof(text) - n, "%llx/%llx ",
			       (unsigned long long)b->e[i].from, (unsigned long long)b->e[i].to);
	}
	cr_assert_str_eq(text, want);
}

#define OPTS(sel, each, ...)                                                                       \
	&(struct ptc_record_opts)                                                                  \
	{                                                                                          \
		.lbr.branches = PERF_SAMPLE_BRANCH_##sel, .lbr.period = (each), __VA_ARGS__        \
	}

Test(lbr, the_newest_is_first_and_the_oldest_goes)
{
	struct bench b;

	open_bench(&b, OPTS(ANY, 3, .lbr.size = 2));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	retire(&b, PTC_KIND_NONE, 0x2000, 0x2005);
	retire(&b, PTC_KIND_CALL, 0x2005, 0x3000);
	read_all(&b);
	cr_assert_eq(b.samples, 0);
	retire(&b, PTC_KIND_RET, 0x3000, 0x200a);
	has(&b, "3000/200a 2005/3000 ");
	cr_assert(b.samples == 1 && b.sample.ip == 0x200a && b.sample.period == 3);
	cr_assert(b.sample.id.pid == PID && b.sample.id.tid == TID && b.sample.id.id == 77 &&
		  b.sample.id.cpu == 3);
	close_bench(&b);
}

Test(lbr, what_is_not_taken_counts_but_is_no_entry)
{
	struct bench b;

	open_bench(&b, OPTS(ANY, 2, .lbr.size = 32));
	retire(&b, PTC_KIND_JCC, 0x1000, 0x9000);
	retire(&b, PTC_KIND_JCC, 0x9000, 0x9005);
	has(&b, "1000/9000 ");
	close_bench(&b);
}

Test(lbr, instructions_can_be_counted_instead)
{
	struct bench b;

	open_bench(&b, OPTS(ANY, 2, .lbr.sampler = "instructions:u"));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	retire(&b, PTC_KIND_NONE, 0x2000, 0x2005);
	has(&b, "1000/2000 ");
	cr_assert_eq(b.sample.ip, 0x2005);
	cr_assert_eq(ptc_lbr_attr(&b.opts).config, PERF_COUNT_HW_INSTRUCTIONS);
	close_bench(&b);
}

Test(lbr, the_filter_says_what_is_an_entry)
{
	static const struct {
		uint64_t sel;
		const char *want;
	} t[] = {
		{ PERF_SAMPLE_BRANCH_ANY, "5000/6000 4000/5000 3000/4000 2000/3000 1000/2000 " },
		{ PERF_SAMPLE_BRANCH_ANY_CALL, "4000/5000 3000/4000 " },
		{ PERF_SAMPLE_BRANCH_IND_CALL, "4000/5000 " },
		{ PERF_SAMPLE_BRANCH_CALL, "3000/4000 " },
		{ PERF_SAMPLE_BRANCH_IND_JUMP, "2000/3000 " },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN, "5000/6000 " },
		{ PERF_SAMPLE_BRANCH_COND, "" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct ptc_record_opts o = { .lbr.period = 5 };
		struct bench b;

		o.lbr.branches = t[i].sel;
		open_bench(&b, &o);
		retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
		retire(&b, PTC_KIND_IJMP, 0x2000, 0x3000);
		retire(&b, PTC_KIND_CALL, 0x3000, 0x4000);
		retire(&b, PTC_KIND_ICALL, 0x4000, 0x5000);
		retire(&b, PTC_KIND_RET, 0x5000, 0x6000);
		has(&b, t[i].want);
		cr_assert_eq(b.samples, 1);
		close_bench(&b);
	}
}

Test(lbr, types_levels_and_the_index_are_there_if_asked_for)
{
	struct bench b;

	open_bench(&b, OPTS(ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_PRIV_SAVE |
				    PERF_SAMPLE_BRANCH_HW_INDEX,
			    6, .lbr.size = 4));
	for (int i = 0; i < 6; i++)
		retire(&b, PTC_KIND_JMP, 0x1000, 0x1000);
	read_all(&b);
	cr_assert_eq(b.sample.branches.hw_idx, 1);
	cr_assert(b.e[0].type == PERF_BR_UNCOND && b.e[0].priv == PERF_BR_PRIV_USER);
	cr_assert(!b.e[0].mispred && !b.e[0].predicted && !b.e[0].cycles);
	close_bench(&b);
	open_bench(&b, OPTS(ANY, 1, .lbr.size = 32));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x1000);
	read_all(&b);
	cr_assert(!b.e[0].type && !b.e[0].priv);
	close_bench(&b);
}

/* A sample that becomes due in the kernel is taken at the first instruction behind it. */
Test(lbr, nothing_is_sampled_in_the_kernel)
{
	struct bench b;

	open_bench(&b, OPTS(ANY, 2, .lbr.size = 32));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	retire(&b, PTC_KIND_SYSCALL, 0x2000, 0);
	read_all(&b);
	cr_assert_eq(b.samples, 0);
	retire(&b, PTC_KIND_NONE, 0x2005, 0x200a);
	has(&b, "1000/2000 ");
	cr_assert_eq(b.sample.ip, 0x200a);
	close_bench(&b);
}

Test(lbr, a_thread_begins_empty_whenever_it_gets_the_cpu)
{
	struct bench b;

	open_bench(&b, OPTS(ANY, 1, .lbr.size = 32));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	has(&b, "1000/2000 ");
	ptc_flow_async(&b.flow, 0x2000, false, 1);
	ptc_flow_of(&b.flow, PID, OTHER);
	retire(&b, PTC_KIND_JMP, 0x3000, 0x4000);
	has(&b, "3000/4000 ");
	cr_assert_eq(b.sample.id.tid, OTHER);
	ptc_flow_async(&b.flow, 0x4000, false, 1);
	ptc_flow_of(&b.flow, PID, TID);
	retire(&b, PTC_KIND_JMP, 0x2000, 0x5000);
	has(&b, "2000/5000 ");
	close_bench(&b);
}

Test(lbr, a_call_stack_has_the_calls_that_are_live_and_a_thread_keeps_it)
{
	struct bench b;

	open_bench(&b, OPTS(CALL_STACK, 1, .lbr.size = 3));
	retire(&b, PTC_KIND_RET, 0x1000, 0x1000); /* from a frame entered before the recording */
	retire(&b, PTC_KIND_CALL, 0x1000, 0x2000);
	retire(&b, PTC_KIND_CALL, 0x2000, 0x2005); /* call to the next insn: no frame */
	retire(&b, PTC_KIND_JMP, 0x2005, 0x2100);
	retire(&b, PTC_KIND_ICALL, 0x2100, 0x3000);
	has(&b, "2100/3000 1000/2000 ");
	ptc_flow_of(&b.flow, PID, OTHER);
	retire(&b, PTC_KIND_CALL, 0x7000, 0x8000);
	has(&b, "7000/8000 ");
	ptc_flow_of(&b.flow, PID, TID);
	retire(&b, PTC_KIND_RET, 0x3000, 0x2105);
	has(&b, "1000/2000 ");
	retire(&b, PTC_KIND_CALL, 0x2105, 0x3000);
	retire(&b, PTC_KIND_CALL, 0x3000, 0x4000);
	retire(&b, PTC_KIND_CALL, 0x4000, 0x5000);
	has(&b, "4000/5000 3000/4000 2105/3000 ");
	ptc_lbr_forget(&b.stacks, TID);
	ptc_flow_of(&b.flow, PID, OTHER);
	ptc_flow_of(&b.flow, PID, TID); /* another thread with the same number */
	retire(&b, PTC_KIND_CALL, 0x1000, 0x2000);
	has(&b, "1000/2000 ");
	close_bench(&b);
}

static void no_transfer(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	(void)ctx;
	(void)tid;
	(void)from;
	(void)to;
	(void)kind;
	cr_assert_fail("there was none");
}

static void take_note(void *ctx, const struct ptc_lbr_note *note)
{
	struct ptc_lbr_note **to = ctx;

	*(*to)++ = *note;
}

Test(lbr, the_truth_is_told_of_each_sample_and_of_what_is_spoilt)
{
	struct ptc_lbr_note notes[4], *end = notes;
	struct bench b;

	open_bench(&b, OPTS(ANY, 2, .lbr.spoil = { .mode = PTC_SPOIL_SWAP, .rate = 1 }));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	retire(&b, PTC_KIND_JMP, 0x2000, 0x3000);
	has(&b, "1000/2000 2000/3000 ");
	cr_assert_eq(ptc_truth_drain(b.truth, no_transfer, take_note, &end, &b.err), 0);
	cr_assert_eq(end - notes, 3);
	cr_assert(notes[0].mode == PTC_SPOIL_NONE && notes[0].tid == TID && notes[0].n == 2 &&
		  notes[0].ip == 0x3000 && notes[0].time_ns == b.sample.id.time);
	cr_assert(notes[1].mode == PTC_SPOIL_SWAP && notes[1].index == 0 &&
		  notes[1].from == 0x2000 && notes[1].to == 0x3000);
	cr_assert(notes[2].index == 1 && notes[2].from == 0x1000 && notes[2].to == 0x2000);
	close_bench(&b);
}

Test(lbr, times_ascend_whatever_the_clock_of_the_caller)
{
	struct bench b;
	uint64_t before;

	open_bench(&b, OPTS(ANY, 1, .lbr.size = 32));
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	read_all(&b);
	before = b.sample.id.time;
	cr_assert_gt(before, 0);
	b.rec.newest += 1000000000;
	retire(&b, PTC_KIND_JMP, 0x2000, 0x3000);
	read_all(&b);
	cr_assert_geq(b.sample.id.time, before + 1000000000);
	close_bench(&b);
}

/* An exec discards the thread's history while the thread runs on the CPU. The thread continues. */
Test(lbr, a_thread_that_is_forgotten_while_it_runs_keeps_its_name_and_its_stack)
{
	struct ptc_lbr second = { .sel = 0 };
	struct bench b;

	open_bench(&b, OPTS(ANY, 1, .lbr.size = 4));
	cr_assert_eq(ptc_lbr_init(&second, &b.opts, &b.stacks, &b.rec, 78, NULL, &b.err), 0);
	retire(&b, PTC_KIND_JMP, 0x1000, 0x2000);
	ptc_lbr_forget(&b.stacks, TID);
	retire(&b, PTC_KIND_JMP, 0x2000, 0x3000);
	has(&b, "2000/3000 ");
	cr_assert_eq(b.sample.id.tid, TID);
	/* A thread on another CPU does not get the stack that this CPU still fills. */
	ptc_lbr_switch(&second, PID, OTHER);
	ptc_lbr_branch(&second, 0x7000, 0x8000, PTC_KIND_JMP, false);
	retire(&b, PTC_KIND_JMP, 0x3000, 0x4000);
	has(&b, "3000/4000 2000/3000 ");
	cr_assert_eq(b.sample.id.tid, TID);
	cr_assert_eq(b.sample.id.pid, PID);
	ptc_lbr_release(&second);
	close_bench(&b);
}

Test(lbr, what_a_software_source_cannot_is_refused)
{
	static const struct {
		struct ptc_record_opts opts;
		uint64_t data;
		const char *word;
	} t[] = {
		{ { .lbr.branches = PERF_SAMPLE_BRANCH_KERNEL }, DATA, "kernel" },
		{ { .lbr.branches = PERF_SAMPLE_BRANCH_IN_TX }, DATA, "in_tx" },
		{ { .lbr.branches = PERF_SAMPLE_BRANCH_COUNTERS }, DATA, "counter" },
		{ { .lbr.branches = 1, .lbr.size = 513 }, DATA, "at most 512" },
		{ { .lbr.branches = 1, .lbr.size = 512 }, 16384, "larger data ring" },
		{ { .lbr.branches = 1, .lbr.sampler = "cycles:u" }, DATA, "cycles:u" },
		{ { .lbr.branches = 1, .lbr.freq = 5 }, DATA, "(-F)" },
		{ { .lbr.branches = 1, .lbr.spoil = { .mode = PTC_SPOIL_TYPE, .rate = 1 } },
		  DATA,
		  "save_type" },
		{ { .lbr.branches = 1, .lbr.spoil = { .mode = PTC_SPOIL_DROP } }, DATA, "no rate" },
		{ { .lbr.branches = 1,
		    .lbr.spoil = { .mode = PTC_SPOIL_SHIFT, .rate = 1, .shift = 17 } },
		  DATA,
		  "1 to 16" },
	};
	struct ptc_err err;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		cr_assert_eq(ptc_lbr_check(&t[i].opts, t[i].data, &err), PTC_E_USAGE, "%zu", i);
		cr_assert_not_null(strstr(err.msg, t[i].word), "%s", err.msg);
	}
}
