/* SPDX-License-Identifier: MIT */
/* Description: while a traced kernel changes, each thread sees its code as it was at the time. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "decode/segment/segment.h"
#include "decode/session/decoder.h"
#include "fewer.h"
#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"
#include "recording.h"

enum { PLACES = 6, ROUNDS = 600, PSB_EACH = 4, STEP = 100, QUEUES = 2 };

static const uint64_t kernel = 0xffffffffc0000000, user = 0x9000;

/* jmp *%rax, alone or behind some other instructions. */
static const uint8_t code[] = { 0x90, 0x90, 0x90, 0xff, 0xe0 };

struct model {
	struct pd pd;
	struct ptc_buf trace[QUEUES];
	uint64_t ip[QUEUES]; /* its current position */
	uint64_t state;
	size_t others; /* patches per round to code that never runs */
};

static size_t pick(struct model *m, size_t n)
{
	m->state = m->state * 6364136223846793005 + 1442695040888963407;
	return (size_t)(m->state >> 33) % n;
}

static uint64_t place(struct model *m)
{
	return kernel + 16 * pick(m, PLACES);
}

static void poke(struct model *m, uint16_t mode, int32_t pid, uint64_t time, uint64_t addr)
{
	const uint8_t *from = code + pick(m, 4);
	struct ptc_sb sb = {
		.type = PERF_RECORD_TEXT_POKE,
		.misc = mode,
		.id = { .has = PD_SAMPLE_TYPE, .pid = pid, .tid = pid, .time = time },
		.u.poke = { .addr = addr,
			    .new_bytes = ptc_cur_init(from, (size_t)(code + sizeof(code) - from)) },
	};

	pd_sb(&m->pd, &sb);
}

static void forget(struct model *m, uint64_t time, uint64_t addr)
{
	const struct ptc_sb sb = {
		.type = PERF_RECORD_KSYMBOL,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .time = time },
		.u.ksymbol = { .addr = addr,
			       .len = 16,
			       .ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			       .flags = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
			       .name = "bpf_prog_x" },
	};

	pd_sb(&m->pd, &sb);
}

static void change(struct model *m, uint64_t time)
{
	const int32_t pid = 7 + (int32_t)pick(m, QUEUES);

	switch (pick(m, 8)) {
	case 0:
		forget(m, time, place(m));
		break;
	case 1:
	case 2:
		poke(m, PERF_RECORD_MISC_USER, pid, time, user);
		break;
	case 3:
	case 4:
	case 5:
		poke(m, PERF_RECORD_MISC_KERNEL, pid, time, place(m));
		break;
	default:
		break;
	}
}

/* Jumps on from the current position. */
static void jump(struct model *m, size_t q, uint64_t time)
{
	m->ip[q] = pick(m, 4) ? place(m) : user;
	pt_tsc(&m->trace[q], time);
	pt_ip(&m->trace[q], PT_TIP, m->ip[q]);
}

static void make(struct model *m, uint64_t seed, size_t others)
{
	uint64_t time = 100;
	size_t i, q, k;

	*m = (struct model){ .state = seed, .others = others };
	pd_init_pt(&m->pd, &rec_clock_1ns);
	m->pd.attrs[0].attr.exclude_kernel = 0;
	for (i = 0; i < PLACES; i++)
		poke(m, PERF_RECORD_MISC_KERNEL, 7, 1, kernel + 16 * i);
	for (q = 0; q < QUEUES; q++) {
		poke(m, PERF_RECORD_MISC_USER, 7 + (int32_t)q, 1, user);
		m->ip[q] = kernel;
		pt_psb_on_at(&m->trace[q], time - STEP, kernel);
	}
	for (i = 0; i < ROUNDS; i++, time += STEP) {
		for (q = 0; q < QUEUES; q++) {
			if (i % PSB_EACH == q)
				pt_psb_on_at(&m->trace[q], time - 1, m->ip[q]);
			jump(m, q, time);
		}
		if (!pick(m, 8))
			change(m, time + STEP / 2);
		for (k = 0; k < m->others; k++)
			poke(m, PERF_RECORD_MISC_KERNEL, 7, time + STEP / 2 + k,
			     kernel + 0x1000 + 16 * (i * m->others + k));
	}
	for (q = 0; q < QUEUES; q++) {
		pd_auxtrace(&m->pd,
			    &(struct ptc_auxtrace){
				    .idx = (uint32_t)q, .tid = 7 + (int32_t)q, .cpu = -1 },
			    m->trace[q].bytes, m->trace[q].len);
		ptc_buf_release(&m->trace[q]);
	}
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	FILE *out = ctx;
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(out, "%" PRIu64 " %d %d %" PRIx64 " %" PRIx64 " %d\n", items[i].time,
			items[i].tid, items[i].type, items[i].from, items[i].to,
			items[i].type == PTC_ITEM_GAP ? items[i].cause : items[i].kind);
	return 0;
}

/* The caller frees the result. *@ret_ahead: number of parts decoded before their turn. */
static char *run(const char *path, const struct ptc_decode_opts *opts, uint64_t *ret_ahead)
{
	struct ptc_decode *d;
	struct ptc_err err;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const struct ptc_sink sink = { on_items, out };

	cr_assert_geq(ptc_decode_open(path, opts, &d, &err), 0, "%s", err.msg);
	cr_assert_geq(ptc_decode_run(d, &sink, &err), 0, "%s", err.msg);
	*ret_ahead = d->pass.ahead;
	ptc_decode_free(d);
	fclose(out);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what)) != NULL) {
		n++;
		text += strlen(what);
	}
	return n;
}

/* @least: number of segments that must have been decoded ahead of their turn. */
static void compare(const char *path, enum ptc_engine_choice engine, uint64_t least)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	char *one, *text, line[64];
	uint64_t ahead;

	opts.engine = engine;
	one = run(path, &opts, &ahead);
	cr_assert_eq(ahead, 0);
	/* The trace must have all cases: code of each length, and missing code. */
	snprintf(line, sizeof(line), " %d ", PTC_ITEM_GAP);
	cr_assert_gt(count(one, line), 0);
	cr_assert_gt(count(one, " ffffffffc0000013 ") + count(one, " ffffffffc0000012 "), 0);
	cr_assert_gt(count(one, " ffffffffc0000010 ") + count(one, " ffffffffc0000011 "), 0);
	for (opts.slice = 1; opts.slice <= 512; opts.slice *= 64)
		for (opts.jobs = 2; opts.jobs <= 3; opts.jobs++) {
			text = run(path, &opts, &ahead);
			cr_assert_str_eq(text, one, "%u threads, %zu bytes", opts.jobs, opts.slice);
			/*
			 * Otherwise the work of the threads is unused, which no other check would
			 * notice.
			 */
			cr_assert(ahead >= least, "engine %d: %" PRIu64, (int)engine, ahead);
			cr_assert(ahead >= least / 6 || opts.slice > 1,
				  "%u threads, %zu bytes: %" PRIu64, opts.jobs, opts.slice, ahead);
			free(text);
		}
	free(one);
}

static void check(uint64_t seed, size_t others, uint64_t least)
{
	struct model m;
	struct rec_file f;
	uint8_t *bytes;
	size_t len;

	make(&m, seed, others);
	bytes = pd_finish(&m.pd, &len);
	f = rec_make_file(bytes, len);
	compare(f.path, PTC_ENGINE_LIBIPT, least);
	compare(f.path, PTC_ENGINE_FAST, least);
	close(f.fd);
	free(bytes);
	pd_release(&m.pd);
}

Test(kernel_jobs, it_is_as_it_was_at_the_time)
{
	uint64_t seed;

	for (seed = 1; seed <= FEWER(4, 2); seed++)
		check(seed, 0, 60);
}

/* Decoding ahead does not pay then, and one thread goes on alone. */
Test(kernel_jobs, it_may_be_patched_very_often)
{
#ifdef __SANITIZE_ADDRESS__
	check(3, 2, 0);
#else
	check(3, 6, 0);
#endif
}
