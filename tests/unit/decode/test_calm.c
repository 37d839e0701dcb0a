/* SPDX-License-Identifier: MIT */
/*
 * Description: side records in the time of a piece of trace: those that make no difference to it do
 * not take it from the second engine, and whatever they are, what comes out is what libipt makes.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"

static const struct ptc_time_conv clock_1ns = { .shift = 0, .mult = 1, .zero = 0 };

enum { OURS = 7, OTHER = 8, OUR_CPU = 0, OTHER_CPU = 1, JUMP = 0x100b };

static int make_file(const void *bytes, size_t len, char path[64])
{
	const int fd = memfd_create("test", MFD_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
	(void)snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* A PSB+ at @time, and a jump, again and again, to itself. */
static void jumps(struct ptc_buf *b, uint64_t time)
{
	int i;

	pt_psb(b);
	pt_tsc(b, time);
	pt_mode_exec64(b);
	pt_ip(b, PT_FUP, JUMP);
	pt_psbend(b);
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
		fprintf(ctx, "%d %d %d %d %lx %lx %lu\n", items[i].type, items[i].pid, items[i].tid,
			items[i].cpu, (unsigned long)items[i].from, (unsigned long)items[i].to,
			(unsigned long)items[i].time);
	return 0;
}

static char *decode(const char *path, enum ptc_engine_choice engine, uint64_t *ret_pieces)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_engine_stats stats;
	struct ptc_sink sink;
	struct ptc_decode *d;
	struct ptc_err err;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	sink = (struct ptc_sink){ list, out };
	opts.engine = engine;
	cr_assert_eq(ptc_decode_open(path, &opts, &d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), 0, "%s", err.msg);
	ptc_decode_get_engine_stats(d, &stats);
	*ret_pieces = stats.pieces;
	ptc_decode_free(d);
	(void)fclose(out);
	return text;
}

typedef void add_record(struct pd *p, const char *code);

/* Two processes on two CPUs; the record is of the first one's second piece. */
static uint64_t pieces_with(add_record *add)
{
	char code[64], path[64];
	const int code_fd = make_file(pt_code, PT_CODE_LEN, code);
	uint64_t pieces, none;
	uint8_t *bytes;
	struct pd p;
	char *want, *got;
	size_t len;
	int fd;

	pd_init_pt(&p, &clock_1ns);
	pd_comm(&p, OURS, 0, "ours", false);
	pd_comm(&p, OTHER, 0, "other", false);
	pd_mmap2(&p, OURS, 0, 0x1000, PT_CODE_LEN, 0, code);
	pd_mmap2(&p, OTHER, 0, 0x1000, PT_CODE_LEN, 0, code);
	pd_itrace_start(&p, OURS, OUR_CPU, 10);
	pd_itrace_start(&p, OTHER, OTHER_CPU, 11);
	add(&p, code);
	queue(&p, OUR_CPU);
	bytes = pd_finish(&p, &len);
	fd = make_file(bytes, len, path);
	want = decode(path, PTC_ENGINE_LIBIPT, &none);
	got = decode(path, PTC_ENGINE_FAST, &pieces);
	cr_assert_str_eq(got, want, "got:\n%swant:\n%s", got, want);
	cr_assert_eq(none, 0);
	free(want);
	free(got);
	(void)close(fd);
	free(bytes);
	pd_release(&p);
	(void)close(code_fd);
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

Test(calm, what_makes_no_difference_does_not_matter)
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

static void mapping_over_it(struct pd *p, const char *code)
{
	pd_mmap2(p, OURS, 250, 0x1000, PT_CODE_LEN, 0, code);
}

static void poke_into_it(struct pd *p, const char *code)
{
	(void)code;
	pd_poke(p, OURS, 250, JUMP + 1, "\xe0", 1);
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

/* Behind many that make none. */
static void late_switch(struct pd *p, const char *code)
{
	int i;

	(void)code;
	for (i = 0; i < 1000; i++)
		pd_comm(p, OTHER, 250, "other", false);
	pd_switch(p, OTHER, OUR_CPU, 251, false);
}

static void too_many(struct pd *p, const char *code)
{
	int i;

	(void)code;
	for (i = 0; i < 5000; i++)
		pd_comm(p, OTHER, 250, "other", false);
}

Test(calm, what_makes_one_leaves_the_piece_to_libipt)
{
	cr_assert_eq(pieces_with(switch_here), 1);
	cr_assert_eq(pieces_with(exec), 1);
	cr_assert_eq(pieces_with(new_process), 1);
	cr_assert_eq(pieces_with(mapping_over_it), 1);
	cr_assert_eq(pieces_with(poke_into_it), 1);
	cr_assert_eq(pieces_with(loss), 1);
	cr_assert_eq(pieces_with(late_switch), 1);
	cr_assert_eq(pieces_with(too_many), 1);
}
