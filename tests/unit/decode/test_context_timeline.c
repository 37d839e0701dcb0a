/* SPDX-License-Identifier: MIT */
/*
 * Description: sideband records during a piece. Irrelevant ones do not prevent the second engine
 * from decoding the piece. With any record the result equals that of libipt.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fewer.h"
#include "lib_elf.h"
#include "lib_flow.h"
#include "recording.h"

enum { OURS = 7, OTHER = 8, THREAD = 17, CHILD = 20, OUR_CPU = 0, OTHER_CPU = 1, JUMP = 0x100b };

/* Adds a PSB+ at @time, and a jump that jumps to itself several times. */
static void jumps(struct ptc_buf *b, uint64_t time)
{
	int i;

	pt_psb_on_at(b, time, JUMP);
	for (i = 0; i < 5; i++)
		pt_ip(b, PT_TIP, JUMP);
}

static void queue(struct pd *p, int32_t cpu)
{
	struct ptc_buf b = PTC_BUF_INIT;

	jumps(&b, 100);
	jumps(&b, 200);
	jumps(&b, 300);
	pd_auxtrace(p, &(struct ptc_auxtrace){ .idx = 0, .tid = -1, .cpu = cpu }, b.bytes, b.len);
	ptc_buf_release(&b);
}

static int list(void *ctx, const struct ptc_item *items, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(ctx, "%d %d %d %d %d %lx %lx %lu\n", items[i].type, items[i].kind,
			items[i].pid, items[i].tid, items[i].cpu, (unsigned long)items[i].from,
			(unsigned long)items[i].to, (unsigned long)items[i].time);
	return 0;
}

/* With several threads a slice is one piece. */
static char *decode(const char *path, enum ptc_engine_choice engine, unsigned int jobs,
		    uint64_t *ret_pieces)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_engine_stats stats = PTC_ENGINE_STATS_INIT;
	struct ptc_sink sink;
	struct ptc_decode *d;
	struct ptc_err err;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	sink = (struct ptc_sink){ list, out };
	opts.engine = engine;
	opts.jobs = jobs;
	opts.slice = jobs > 1;
	cr_assert_eq(ptc_decode_open(path, &opts, &d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), 0, "%s", err.msg);
	ptc_decode_get_engine_stats(d, &stats);
	*ret_pieces = stats.pieces;
	ptc_decode_free(d);
	(void)fclose(out);
	return text;
}

/* Both engines must give the same result. Returns the number of pieces that the engine decoded. */
static uint64_t compare(const struct pd *p)
{
	uint64_t pieces, none;
	char *want, *got;
	unsigned int jobs;
	size_t len;
	uint8_t *bytes = pd_finish(p, &len);
	const struct rec_file f = rec_make_file(bytes, len);

	want = decode(f.path, PTC_ENGINE_LIBIPT, 1, &none);
	for (jobs = 2; jobs; jobs--) {
		got = decode(f.path, PTC_ENGINE_FAST, jobs, &pieces);
		cr_assert_str_eq(got, want, "%u threads: got:\n%swant:\n%s", jobs, got, want);
		free(got);
	}
	cr_assert_eq(none, 0);
	free(want);
	(void)close(f.fd);
	free(bytes);
	return pieces;
}

typedef void add_record(struct pd *p, const char *code);

/* Two processes run on two CPUs. The record belongs to the second piece of the first one. */
static uint64_t pieces_with(add_record *add)
{
	const struct rec_file code = rec_make_file(pt_code, PT_CODE_LEN);
	uint64_t pieces;
	struct pd p;

	pd_init_pt(&p, &rec_clock_1ns);
	pd_comm(&p, OURS, 0, "ours", false);
	pd_comm(&p, OTHER, 0, "other", false);
	pd_mmap2(&p, OURS, 0, 0x1000, PT_CODE_LEN, 0, code.path);
	pd_mmap2(&p, OTHER, 0, 0x1000, PT_CODE_LEN, 0, code.path);
	pd_itrace_start(&p, OURS, OUR_CPU, 10);
	pd_itrace_start(&p, OTHER, OTHER_CPU, 11);
	add(&p, code.path);
	queue(&p, OUR_CPU);
	pieces = compare(&p);
	pd_release(&p);
	(void)close(code.fd);
	return pieces;
}

static void nothing(struct pd *p, const char *code)
{
	(void)p;
	(void)code;
}

static void switch_elsewhere(struct pd *p, const char *code)
{
	(void)code;
	pd_switch(p, OTHER, OTHER_CPU, 250, true);
	pd_switch(p, 9, OTHER_CPU, 251, false);
}

static void switch_to_itself(struct pd *p, const char *code)
{
	(void)code;
	pd_switch(p, OURS, OUR_CPU, 250, true);
	pd_switch(p, OURS, OUR_CPU, 251, false);
}

static void names(struct pd *p, const char *code)
{
	(void)code;
	pd_comm(p, OURS, 250, "renamed", false);
	pd_comm(p, OTHER, 251, "another", true);
}

static void children(struct pd *p, const char *code)
{
	(void)code;
	pd_task(p, PERF_RECORD_FORK, 20, 20, OURS, 250);
	pd_task(p, PERF_RECORD_FORK, OURS, 21, OURS, 251);
	pd_task(p, PERF_RECORD_EXIT, OTHER, OTHER, 1, 252);
}

static void other_mappings(struct pd *p, const char *code)
{
	pd_mmap2(p, OTHER, 250, 0x1000, 0x1000, 0, code);
	pd_mmap2(p, OURS, 251, 0x7000, PT_CODE_LEN, 0, code);
	pd_poke(p, OURS, 252, 0x1030, "\x90", 1);
	pd_poke(p, OTHER, 253, JUMP, "\x90", 1);
}

Test(context_timeline, what_makes_no_difference_does_not_matter)
{
	cr_assert_eq(pieces_with(nothing), 2);
	cr_assert_eq(pieces_with(switch_elsewhere), 2);
	cr_assert_eq(pieces_with(switch_to_itself), 2);
	cr_assert_eq(pieces_with(names), 2);
	cr_assert_eq(pieces_with(children), 2);
	cr_assert_eq(pieces_with(other_mappings), 2);
}

static void switch_here(struct pd *p, const char *code)
{
	(void)code;
	pd_switch(p, OTHER, OUR_CPU, 250, false);
}

/* The process does not exist yet when the piece begins. */
static void switch_to_child(struct pd *p, const char *code)
{
	(void)code;
	pd_task(p, PERF_RECORD_FORK, CHILD, CHILD, OURS, 250);
	pd_switch(p, CHILD, OUR_CPU, 251, false);
}

static void switch_to_nobody(struct pd *p, const char *code)
{
	(void)code;
	pd_switch(p, 0, OUR_CPU, 250, false);
	pd_switch(p, OURS, OUR_CPU, 251, false);
}

/* A switch behind many records that do not matter. */
static void late_switch(struct pd *p, const char *code)
{
	int i;

	(void)code;
	for (i = 0; i < 1000; i++)
		pd_comm(p, OTHER, 250, "other", false);
	pd_switch(p, OTHER, OUR_CPU, 251, false);
}

Test(context_timeline, another_one_s_turn_is_foreseen)
{
	cr_assert_eq(pieces_with(switch_here), 2);
	cr_assert_eq(pieces_with(switch_to_child), 2);
	cr_assert_eq(pieces_with(switch_to_nobody), 2);
	cr_assert_eq(pieces_with(late_switch), 2);
}

static void mapping_over_it(struct pd *p, const char *code)
{
	pd_mmap2(p, OURS, 250, 0x1000, PT_CODE_LEN, 0, code);
}

static void poke_into_it(struct pd *p, const char *code)
{
	(void)code;
	pd_poke(p, OURS, 250, JUMP + 1, "\xe0", 1);
}

/* A mapping in another process, which runs here afterwards. */
static void mapping_in_turn(struct pd *p, const char *code)
{
	pd_switch(p, OTHER, OUR_CPU, 250, false);
	pd_mmap2(p, OTHER, 250, 0x1000, PT_CODE_LEN, 0, code);
}

Test(context_timeline, other_code_is_foreseen)
{
	cr_assert_eq(pieces_with(mapping_over_it), 2);
	cr_assert_eq(pieces_with(poke_into_it), 2);
	cr_assert_eq(pieces_with(mapping_in_turn), 2);
}

static void exec(struct pd *p, const char *code)
{
	(void)code;
	pd_comm(p, OURS, 250, "exec", true);
}

static void new_process(struct pd *p, const char *code)
{
	(void)code;
	pd_comm(p, OURS, 250, "ours", false);
	pd_task(p, PERF_RECORD_FORK, OTHER, OURS, OTHER, 251);
}

static void loss(struct pd *p, const char *code)
{
	const struct ptc_sb lost = { .type = PERF_RECORD_LOST,
				     .id = { .has = PD_SAMPLE_TYPE,
					     .pid = OURS,
					     .tid = OURS,
					     .cpu = OUR_CPU,
					     .time = 250,
					     .id = PD_ID_DUMMY },
				     .u.lost = { .id = PD_ID_DUMMY, .lost = 5 } };

	(void)code;
	pd_sb(p, &lost);
}

static void switch_to_unknown(struct pd *p, const char *code)
{
	struct ptc_sb sb = { .type = PERF_RECORD_SWITCH,
			     .id = { .has = PD_SAMPLE_TYPE,
				     .pid = -1,
				     .tid = OTHER,
				     .cpu = OUR_CPU,
				     .time = 250,
				     .id = PD_ID_DUMMY } };

	(void)code;
	pd_sb(p, &sb);
}

/* A child of a process whose code has changed before the fork. */
static void child_of_other_code(struct pd *p, const char *code)
{
	pd_mmap2(p, OTHER, 249, 0x1000, PT_CODE_LEN, 0, code);
	pd_task(p, PERF_RECORD_FORK, CHILD, CHILD, OTHER, 250);
	pd_switch(p, CHILD, OUR_CPU, 251, false);
}

static void grandchild(struct pd *p, const char *code)
{
	(void)code;
	pd_task(p, PERF_RECORD_FORK, CHILD, CHILD, OURS, 250);
	pd_task(p, PERF_RECORD_FORK, CHILD + 1, CHILD + 1, CHILD, 251);
	pd_switch(p, CHILD + 1, OUR_CPU, 252, false);
}

static void many_turns(struct pd *p, const char *code)
{
	int i;

	(void)code;
	for (i = 0; i < 200; i++)
		pd_switch(p, i % 2 ? OURS : OTHER, OUR_CPU, 250, false);
}

static void many_records(struct pd *p, const char *code)
{
	int i;

	(void)code;
	for (i = 0; i < 5000; i++)
		pd_comm(p, OTHER, 250, "other", false);
}

Test(context_timeline, each_change_of_process_is_foreseen)
{
	cr_expect_eq(pieces_with(exec), 2);
	cr_expect_eq(pieces_with(new_process), 2);
	cr_expect_eq(pieces_with(switch_to_unknown), 2);
	cr_expect_eq(pieces_with(child_of_other_code), 2);
	cr_expect_eq(pieces_with(grandchild), 2);
	cr_expect_eq(pieces_with(many_turns), 2);
	cr_expect_eq(pieces_with(many_records), 2);
}

Test(context_timeline, a_segment_with_lost_records_is_left_to_libipt)
{
	cr_assert_eq(pieces_with(loss), 1);
}

static uint64_t number(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

/* Some thread begins to run, on some CPU, in some way. */
static void turn(struct pd *p, uint64_t *seed, uint64_t time)
{
	static const int32_t tids[] = { OURS, THREAD, OTHER, 0, CHILD };
	const int32_t tid = tids[number(seed, sizeof(tids) / sizeof(*tids))];
	const uint32_t cpu = number(seed, 8) ? OUR_CPU : OTHER_CPU;
	struct ptc_sb sb = { .type = PERF_RECORD_SWITCH,
			     .id = { .has = PD_SAMPLE_TYPE,
				     .pid = tid == THREAD ? OURS : tid,
				     .tid = tid,
				     .cpu = cpu,
				     .time = time,
				     .id = PD_ID_DUMMY } };

	if (tid == CHILD && !number(seed, 3))
		pd_task(p, PERF_RECORD_FORK, CHILD, CHILD, number(seed, 2) ? OURS : OTHER, time);
	if (!number(seed, 4)) {
		sb.type = PERF_RECORD_SWITCH_CPU_WIDE;
		sb.misc = PERF_RECORD_MISC_SWITCH_OUT;
		sb.u.sw.next_prev_pid = sb.id.pid;
		sb.u.sw.next_prev_tid = tid;
		sb.id.pid = sb.id.tid = OTHER;
	}
	pd_sb(p, &sb);
}

/* @tid: thread of the queue; -1: the queue belongs to a CPU, on which several threads run. */
static uint64_t pieces_at_random(uint64_t seed, int32_t tid, const char *code, const char *other)
{
	const struct ptc_auxtrace queue = { .tid = tid, .cpu = tid == -1 ? OUR_CPU : -1 };
	const uint64_t from = 125000, step = number(&seed, 2) ? 3000 : 40000;
	struct ptc_buf b = PTC_BUF_INIT;
	struct fl_walk w = {
		.b = &b, .seed = seed, .timed = true, .mtc_freq = 3, .ctc = 1000, .ticks = 125
	};
	uint64_t time, pieces;
	struct pd p;

	fl_walk(&w, 2000);
	pd_init_pt(&p, &rec_clock_1ns);
	pd_mmap2(&p, OURS, 0, 0x1000, PT_CODE_LEN, 0, code);
	pd_mmap2(&p, OURS, 0, PT_HIGH + 0x1000, PT_CODE_LEN, 0, code);
	pd_mmap2(&p, OTHER, 0, 0x1000, PT_CODE_LEN, 0, other);
	pd_mmap2(&p, OTHER, 0, PT_HIGH + 0x1000, PT_CODE_LEN, 0, code);
	pd_itrace_start(&p, OURS, OUR_CPU, 10);
	for (time = from + number(&seed, step); time < w.ctc * 125; time += 1 + number(&seed, step))
		turn(&p, &seed, time);
	pd_auxtrace(&p, &queue, b.bytes, b.len);
	pieces = compare(&p);
	pd_release(&p);
	ptc_buf_release(&b);
	return pieces;
}

Test(context_timeline, whoever_takes_turns_what_comes_out_is_libipt_s)
{
	uint8_t bytes[PT_CODE_LEN];
	struct rec_file code, other;
	uint64_t i, pieces = 0;

	memcpy(bytes, pt_code, sizeof(bytes));
	bytes[1] = 1; /* the first jcc leads elsewhere */
	code = rec_make_file(pt_code, PT_CODE_LEN);
	other = rec_make_file(bytes, PT_CODE_LEN);
	for (i = 0; i < FEWER(100, 40); i++)
		pieces += pieces_at_random(i, i % 4 ? -1 : OURS, code.path,
					   i % 3 ? code.path : other.path);
	cr_assert_gt(pieces, FEWER(200, 60), "%d pieces", (int)pieces);
	(void)close(code.fd);
	(void)close(other.fd);
}

/* --- code that changes while it runs ---------------------------------------------------------- */

enum { HERE = JUMP, THERE = 0x7000 + (JUMP - 0x1000) };

/* Jumps or calls to one of two places, with the code that they have then, at increasing times. */
static void jump_about(struct ptc_buf *b, uint64_t *seed, uint64_t *time)
{
	uint64_t n = 10 + number(seed, 30);

	pt_psb_on_at(b, ++*time, HERE);
	while (n--) {
		if (!number(seed, 3))
			pt_tsc(b, *time += number(seed, 10));
		pt_ip(b, PT_TIP, number(seed, 4) ? HERE : THERE);
	}
	pt_ip(b, PT_TIP, HERE);
}

/* Changes the code at these places. */
struct changer {
	struct pd *p;
	uint64_t seed;
	const char *codes[2]; /* a jump at JUMP, and a call */
	struct ptc_buf *dump; /* of a JIT; NULL: patches are used */
};

/* Makes a random change at one of the places at @time. */
static void change(struct changer *c, uint64_t time)
{
	const uint64_t at = number(&c->seed, 3) ? 0x7000 : 0x1000;
	const int32_t whose = number(&c->seed, 4) ? OURS : OTHER;
	const char *insn = number(&c->seed, 2) ? "\xff\xe0" : "\xff\xd0";

	switch (number(&c->seed, 6)) {
	case 0:
		if (c->dump)
			le_jit_load(c->dump, time, at + (JUMP - 0x1000), time, "jit", insn, 2);
		else
			pd_poke(c->p, whose, time, at + (JUMP - 0x1000), insn, 2);
		break;
	case 1:
		turn(c->p, &c->seed, time);
		break;
	default:
		pd_mmap2(c->p, whose, time, at, PT_CODE_LEN, 0, c->codes[number(&c->seed, 2)]);
		break;
	}
}

/* @often: the average number of time steps per change. */
static uint64_t pieces_of_changing(struct changer *c, uint64_t often, const char *folder)
{
	const struct ptc_auxtrace queue = { .tid = -1, .cpu = OUR_CPU };
	const bool early = number(&c->seed, 2);
	struct ptc_buf b = PTC_BUF_INIT, dump = PTC_BUF_INIT;
	uint64_t end = 100, time, pieces;
	struct pd p;
	int i;

	c->p = &p;
	c->dump = number(&c->seed, 2) ? &dump : NULL;
	le_jit(&dump, OURS, 0);
	for (i = 0; i < 20; i++)
		jump_about(&b, &c->seed, &end);
	pd_init_pt(&p, &rec_clock_1ns);
	pd_mmap2(&p, OURS, 0, 0x1000, PT_CODE_LEN, 0, c->codes[0]);
	pd_mmap2(&p, OTHER, 0, 0x1000, PT_CODE_LEN, 0, c->codes[1]);
	pd_mmap2(&p, OTHER, 0, 0x7000, PT_CODE_LEN, 0, c->codes[1]);
	pd_itrace_start(&p, OURS, OUR_CPU, 10);
	if (early)
		pd_mmap2(&p, OURS, 100, 0x7000, PT_CODE_LEN, 0, c->codes[0]);
	for (time = 100; time < end; time += number(&c->seed, often))
		change(c, time);
	if (c->dump)
		pd_mmap2(&p, OURS, 0, 0x70000, 0x1000, 0, le_write(folder, "jit-7.dump", &dump));
	pd_auxtrace(&p, &queue, b.bytes, b.len);
	pieces = compare(&p);
	pd_release(&p);
	ptc_buf_release(&dump);
	ptc_buf_release(&b);
	return pieces;
}

Test(context_timeline, whatever_code_becomes_what_comes_out_is_libipt_s)
{
	struct rec_file files[2];
	struct changer c = { .codes = { files[0].path, files[1].path } };
	uint8_t bytes[PT_CODE_LEN];
	char folder[64];
	uint64_t i, pieces = 0;

	memcpy(bytes, pt_code, sizeof(bytes));
	bytes[JUMP - 0x1000 + 1] = 0xd0;
	files[0] = rec_make_file(pt_code, PT_CODE_LEN);
	files[1] = rec_make_file(bytes, PT_CODE_LEN);
	le_folder(folder, sizeof(folder));
	for (i = 0; i < FEWER(200, 60); i++) {
		c.seed = i;
		pieces += pieces_of_changing(&c, i % 3 ? 20 : 200, folder);
	}
	cr_assert_gt(pieces, FEWER(2000, 500), "%d pieces",
		     (int)pieces); /* if code does not change: 1300 */
	le_folder_remove(folder);
	(void)close(files[0].fd);
	(void)close(files[1].fd);
}
